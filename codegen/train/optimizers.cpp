// The optimizers as graph nodes: global-norm clipping, accumulation over runs, and the rules.
// Scalars (step number, bias corrections, norm, clip factor) are float64; parameters and moments have
// the parameter's type.
#include "ropewalk/train/optimizer.hpp"

#include "ropewalk/graph/builder.hpp"
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/add_scalars.hpp"
#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/equal.hpp"
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sqrt.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/sum.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {
namespace {

using namespace std::string_literals;

value number_as(const value& like, double v) {
  return constant_value(*like.g, v, like.type().d);
}
value add(const value& a, const value& b) { return apply<op::add>(*a.g, {a, b}); }
value sub(const value& a, const value& b) { return apply<op::sub>(*a.g, {a, b}); }
value mul(const value& a, const value& b) { return apply<op::mul>(*a.g, {a, b}); }
value mul(const value& a, double b) { return mul(a, number_as(a, b)); }
value div(const value& a, const value& b) { return apply<op::div>(*a.g, {a, b}); }
value where(const value& c, const value& a, const value& b) {
  return apply<op::where>(*a.g, {c, a, b});
}
value cast_to(const value& a, dtype d) {
  if (a.type().d == d) return a;
  return apply(*a.g, family_info<op::cast_family>, {.i = {static_cast<std::int64_t>(d)}}, {a});
}
value sum_all(const value& a) {
  const std::int64_t mask = (std::int64_t{1} << a.type().s.rank) - 1;
  if (mask == 0) return a;
  return apply(*a.g, family_info<op::sum_family>, op::reduction_attrs(mask, false), {a});
}
// base^exponent for a constant base.
value power(double base, const value& exponent) {
  return apply<op::exp>(*exponent.g, {mul(exponent, __builtin_log(base))});
}

value state_leaf(graph& g, const std::string& path, const tensor_type& type) {
  return leaf_value(g, state_info, path, type);
}

bool is_frozen(const training& rule, const std::string& path) {
  for (const char* f : rule.freeze)
    if (f != nullptr && path.starts_with(f)) return true;
  return false;
}

// The mean of the gradients of `n` runs, the running sum being a state that starts again after the
// n-th.
value accumulated(program_graph& p, const parameter_gradient& pg, int n, const value& last) {
  const std::string& path = p.g[pg.parameter.id].path;
  const value total = state_leaf(p.g, "gradient_sum." + path, pg.gradient.type());
  const value sum = add(total, mul(pg.gradient, 1.0 / n));
  p.updates.push_back({total.id, where(last, number_as(sum, 0), sum).id});
  return sum;
}

}  // namespace

value update_context::state(const char* name) {
  return state_leaf(program.g, name + "."s + path, parameter.type());
}

void update_context::update(value leaf, value v) {
  if (apply_now.g != nullptr) v = where(apply_now, v, leaf);
  program.updates.push_back({leaf.id, v.id});
}

void build_sgd(update_context& c, const double* o) {
  const double momentum = o[0], decay = o[2];
  const bool nesterov = o[1] != 0;
  value g = c.gradient;
  if (decay != 0) g = add(g, mul(c.parameter, decay));
  value d = g;
  if (momentum != 0) {
    const value b = c.state("momentum");  // starts at zero: the first step's buffer is g itself
    const value next = add(mul(b, momentum), g);
    d = nesterov ? add(g, mul(next, momentum)) : next;
    c.update(b, next);
  }
  c.update(c.parameter, sub(c.parameter, mul(d, cast_to(c.learning_rate, d.type().d))));
}

void build_adam(update_context& c, const double* o) {
  const double beta1 = o[0], beta2 = o[1], eps = o[2], decay = o[3];
  const bool decoupled = o[4] != 0;
  const dtype type = c.parameter.type().d;
  value p = c.parameter, g = c.gradient;
  const value lr = cast_to(c.learning_rate, type);
  if (decay != 0 && !decoupled) g = add(g, mul(p, decay));
  if (decay != 0 && decoupled && p.type().s.rank >= o[5]) p = sub(p, mul(p, mul(lr, decay)));
  const value m = c.state("adam_m"), v = c.state("adam_v");
  const value next_m = add(mul(m, beta1), mul(g, 1 - beta1));
  const value next_v = add(mul(v, beta2), mul(mul(g, g), 1 - beta2));
  const value one = number_as(c.step, 1);
  const value c1 = sub(one, power(beta1, c.step));
  const value c2 = apply<op::sqrt>(*c.step.g, {sub(one, power(beta2, c.step))});
  const value rate = cast_to(div(cast_to(c.learning_rate, dtype::f64), c1), type);
  const value inverse = cast_to(div(one, c2), type);
  const value root = add(mul(apply<op::sqrt>(*p.g, {next_v}), inverse), number_as(p, eps));
  c.update(m, next_m);
  c.update(v, next_v);
  c.update(c.parameter, sub(p, mul(rate, div(next_m, root))));
}

void build_updates(program_graph& p, const training& rule,
                   const std::vector<parameter_gradient>& given) {
  if (rule.accumulate < 1)
    throw error("minimize", "accumulate", std::to_string(rule.accumulate), "must be at least 1");
  if (rule.max_norm < 0)
    throw error("minimize", "max_norm", std::to_string(rule.max_norm), "must not be negative");
  graph& g = p.g;
  const value zero{nullptr, -1};
  value last = zero;  // whether this run completes an accumulation
  if (rule.accumulate > 1) {
    const value runs = state_leaf(g, "accumulated_runs", {dtype::f64, shape{}});
    const value next = add(runs, number_as(runs, 1));
    last = apply<op::equal>(g, {next, number_as(next, rule.accumulate)});
    p.updates.push_back({runs.id, where(last, number_as(next, 0), next).id});
  }
  std::vector<parameter_gradient> all;
  for (const parameter_gradient& pg : given) {
    if (is_frozen(rule, g[pg.parameter.id].path)) continue;
    all.push_back(pg);
    if (last.g != nullptr) all.back().gradient = accumulated(p, pg, rule.accumulate, last);
  }
  if (all.empty()) throw error("minimize", "the loss has no parameter to train");

  std::vector<value> squares;
  for (const parameter_gradient& pg : all)
    squares.push_back(sum_all(mul(pg.gradient, pg.gradient)));
  const value total = apply(g, family_info<op::add_scalars>, {}, squares);
  const value norm = apply<op::sqrt>(g, {total});
  p.outputs.push_back({"grad_norm", norm.id});
  if (rule.max_norm > 0) {
    const value ratio = div(number_as(norm, rule.max_norm), add(norm, number_as(norm, 1e-6)));
    const value factor = where(apply<op::less>(g, {ratio, number_as(ratio, 1)}), ratio,
                               number_as(ratio, 1));
    for (parameter_gradient& pg : all)
      pg.gradient = mul(pg.gradient, cast_to(factor, pg.gradient.type().d));
  }

  const value step = state_leaf(g, "step", {dtype::f64, shape{}});
  const value next_step = add(step, number_as(step, 1));
  const value lr = leaf_value(g, input_info, "learning_rate", {dtype::f32, shape{}});
  p.updates.push_back({step.id, (last.g == nullptr ? next_step : where(last, next_step, step)).id});
  for (const parameter_gradient& pg : all) {
    update_context c{.program = p, .path = g[pg.parameter.id].path, .parameter = pg.parameter,
                     .gradient = pg.gradient, .learning_rate = lr, .step = next_step,
                     .apply_now = last};
    rule.rule.build(c, rule.rule.options);
  }
}

}  // namespace ropewalk
