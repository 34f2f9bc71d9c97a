// Expressions as text.
#include "emit_printer.hpp"

#include <algorithm>
#include <cmath>

namespace ropewalk {
std::string printer::initial(reduction how, dtype d) const {
  if (how == reduction::sum) return d == dtype::i32 ? "0" : language_.number(0, d);
  if (d == dtype::i32) return how == reduction::max ? "-0x7fffffff - 1" : "0x7fffffff";
  if (d == dtype::boolean) return how == reduction::max ? "false" : "true";
  return language_.number(how == reduction::max ? -INFINITY : INFINITY, d);
}

std::string printer::combine(reduction how, dtype d, const std::string& a, const std::string& b) {
  if (d == dtype::boolean) return a + (how == reduction::min ? " && " : " || ") + b;
  if (how == reduction::sum) return a + " + " + b;
  return std::string(how == reduction::max ? "larger(" : "smaller(") + a + ", " + b + ")";
}

const char* printer::clause(reduction how) {
  return how == reduction::sum ? "+" : how == reduction::max ? "max" : "min";
}

void printer::count(int e) {
  if (++uses_[e] > 1) return;
  a_.for_each_child(e, [&](int k) { count(k); });
}

void printer::open(const std::string& s) {
  line(s);
  ++depth_;
  scopes_.emplace_back();
}

void printer::close() {
  for (int e : scopes_.back()) names_.erase(e);
  scopes_.pop_back();
  --depth_;
  line("}");
}

void printer::set_name(int e, const std::string& s) {
  names_[e] = s;
  scopes_.back().push_back(e);
}
void printer::name(int e, const std::string& s) { set_name(e, s); }

std::string printer::var(int v) {
  const auto [it, fresh_one] = vars_.try_emplace(v);
  if (fresh_one) it->second = "i" + std::to_string(vars_.size() - 1);
  return it->second;
}

std::string printer::stored_dim(int dim) {
  auto it = std::find(dims_.begin(), dims_.end(), dim);
  if (it == dims_.end()) it = dims_.insert(it, dim);
  return "n" + std::to_string(it - dims_.begin());
}
std::string printer::dim_text(int dim) {
  if (a_.dims().fixed(dim)) return std::to_string(a_.dims().number(dim));
  return stored_dim(dim);
}

std::string printer::buffer(int b) {
  if (b >= scratch_base) return "s" + std::to_string(b - scratch_base);
  b = types_.place(b);
  auto it = std::find(buffers_.begin(), buffers_.end(), b);
  if (it == buffers_.end()) it = buffers_.insert(it, b);
  return "b" + std::to_string(it - buffers_.begin());
}

void printer::written(int b) {
  if (b < scratch_base) writes_.insert(types_.place(b));
}

int printer::scratch_array(dtype type, int elements) {
  arrays_.push_back({type, elements});
  return scratch_base + static_cast<int>(arrays_.size()) - 1;
}

bool printer::trivial(int e) const {
  const expr_node& n = a_[e];
  if (n.op == scalar_op::constant || n.op == scalar_op::index) return true;
  if (n.op == scalar_op::extent)  // sums of loop variables are for the compiler
    return std::all_of(a_.affine(e).terms.begin(), a_.affine(e).terms.end(),
                       [&](const affine_term& t) { return a_[t.atom].op == scalar_op::index; });
  return false;
}

std::string printer::address(int e) {
  const expr_node& n = a_[e];
  if (n.op != scalar_op::extent) {
    return is_long(e) ? raw_text(e) : std::string(language_.index()) + "(" + raw_text(e) + ")";
  }
  const affine_form& f = a_.affine(e);
  dim_table& dims = a_.dims();
  std::string s;
  for (const affine_term& t : f.terms) {
    std::string x = address(t.atom);
    if (dims.fixed(t.coefficient)) {
      std::int64_t k = dims.number(t.coefficient);
      if (!s.empty() || k == -1) s += k < 0 ? (s.empty() ? "-" : " - ") : " + ";
      if (!s.empty() && k < 0) k = -k;
      s += k == 1 ? x : x + " * " + std::to_string(k);
    } else {
      s += (s.empty() ? "" : " + ") + x + " * " + stored_dim(t.coefficient);
    }
  }
  if (s.empty()) return dim_text(f.constant);
  if (dims.fixed(f.constant)) {
    const std::int64_t k = dims.number(f.constant);
    if (k != 0) s += (k < 0 ? " - " : " + ") + std::to_string(k < 0 ? -k : k);
  } else {
    s += " + " + stored_dim(f.constant);
  }
  return s;
}

void printer::hoist(int e, std::uint64_t inner, std::set<std::pair<int, std::uint64_t>>& seen) {
  if (names_.contains(e) || a_[e].op == scalar_op::constant || a_[e].op == scalar_op::index) return;
  if (!seen.emplace(e, inner).second) return;
  if ((a_.variables(e) & inner) == 0 && !trivial(e)) {
    if (a_[e].op == scalar_op::extent) {
      for (const affine_term& t : a_.affine(e).terms) hoist(t.atom, inner, seen);
      return;
    }
    ensure(e);
    if (!names_.contains(e)) {
      declare(e);
    }
    return;
  }
  if (a_[e].op == scalar_op::reduce)
    for (int v : a_.reduction_of(e).vars) inner |= arena::bit(v);
  a_.for_each_child(e, [&](int k) { hoist(k, inner, seen); });
}

void printer::ensure(int e) {
  if (names_.contains(e) || trivial(e)) return;
  const expr_node n = a_[e];
  if (n.op == scalar_op::reduce) return emit_reduce(e);
  a_.for_each_child(e, [&](int k) { ensure(k); });
  if (n.op == scalar_op::extent) return;
  if (uses_[e] > 1) declare(e);
}

// Loop variables and what is divided from them are long; as values they are int.
bool printer::is_long(int e) const {
  const scalar_op o = a_[e].op;
  return o == scalar_op::index || o == scalar_op::floor_div || o == scalar_op::mod;
}

void printer::declare(int e) {
  const std::string t = fresh("t");
  line(std::string("const ") + (is_long(e) ? language_.index() : language_.type(a_[e].type)) + " " +
       t + " = " + raw_text(e) + ";");
  set_name(e, t);
}

std::string printer::value(int e) {
  ensure(e);
  return inline_text(e);
}

void printer::emit_reduce(int e) {
  const reduce_record r = a_.reduction_of(e);
  const dtype d = a_[e].type;
  const std::string t = fresh("t");
  variable(d, t, initial(r.kind, d));
  loops(r.vars, {{t, r.kind}}, {r.body}, [&] {
    const std::string x = value(r.body);
    line(t + " = " + combine(r.kind, d, t, x) + ";");
  });
  set_name(e, t);
}

void printer::simd(const std::vector<accumulator>& acc) {
  std::string s = "#pragma omp simd";
  for (const accumulator& x : acc)
    s += std::string(" reduction(") + clause(x.how) + ":" + x.name + ")";
  body_ += s + "\n";
}

std::string printer::store_text(int b, const std::string& element, const std::string& v) {
  const dtype d =
      b >= scratch_base ? arrays_[static_cast<std::size_t>(b - scratch_base)].type : types_.type(b);
  written(b);
  return buffer(b) + "[" + element + "] = " + language_.stored(d, v) + ";";
}

std::string printer::inline_text(int e) {
  return is_long(e) ? "int(" + raw_text(e) + ")" : raw_text(e);
}

std::string printer::raw_text(int e) {
  if (const auto it = names_.find(e); it != names_.end()) return it->second;
  const expr_node n = a_[e];
  auto arg = [&](int k) { return inline_text(k); };
  auto call = [&](const char* f) {
    return language_.function(f, n.type) + "(" + arg(n.a) + (n.b >= 0 ? ", " + arg(n.b) : "") +
           (n.c >= 0 ? ", " + arg(n.c) : "") + ")";
  };
  auto infix = [&](const char* o) { return "(" + arg(n.a) + " " + o + " " + arg(n.b) + ")"; };
  const bool whole = n.type == dtype::i32;
  switch (n.op) {
    case scalar_op::constant:
      return language_.number(n.v, n.type);
    case scalar_op::index:
      return var(n.aux);
    case scalar_op::extent:
      return "int(" + address(e) + ")";
    case scalar_op::load: {
      const dtype d = n.aux >= scratch_base
                          ? arrays_[static_cast<std::size_t>(n.aux - scratch_base)].type
                          : types_.type(n.aux);
      const std::string x = language_.loaded(d, buffer(n.aux) + "[" + address(n.a) + "]");
      if (n.b < 0) return x;
      const std::string zero = whole ? "0" : language_.number(0, n.type);
      return "(" + arg(n.b) + " ? " + x + " : " + zero + ")";
    }
    case scalar_op::add:
      return infix("+");
    case scalar_op::sub:
      return infix("-");
    case scalar_op::mul:
      return infix("*");
    case scalar_op::div:
      return infix("/");
    case scalar_op::min:
      return call("smaller");
    case scalar_op::max:
      return call("larger");
    case scalar_op::pow:
      return call("pow");
    case scalar_op::floor_div:
      return "(" + address(n.a) + ") / " + (n.aux >= 0 ? dim_text(n.aux) : address(n.b));
    case scalar_op::mod:
      return "(" + address(n.a) + ") % " + (n.aux >= 0 ? dim_text(n.aux) : address(n.b));
    case scalar_op::neg:
      return "(-" + arg(n.a) + ")";
    case scalar_op::abs:
      return call("absolute");
    case scalar_op::exp:
      return call("exp");
    case scalar_op::log:
      return call("log");
    case scalar_op::sqrt:
      return call("sqrt");
    case scalar_op::rsqrt:
      return call("rsqrt");
    case scalar_op::sin:
      return call("sin");
    case scalar_op::cos:
      return call("cos");
    case scalar_op::tanh:
      return call("tanh");
    case scalar_op::erf:
      return call("erf");
    case scalar_op::eq:
      return infix("==");
    case scalar_op::lt:
      return infix("<");
    case scalar_op::le:
      return infix("<=");
    case scalar_op::logical_and:
      return infix(language_.both());
    case scalar_op::logical_or:
      return infix(language_.either());
    case scalar_op::logical_not:
      return "(!" + arg(n.a) + ")";
    case scalar_op::select:
      return "(" + arg(n.a) + " ? " + arg(n.b) + " : " + arg(n.c) + ")";
    case scalar_op::random:
      return call("random");
    case scalar_op::cast:
      if (n.aux >= 0) return language_.rounded(static_cast<dtype>(n.aux), arg(n.a));
      if (n.type == dtype::boolean) return language_.truth(arg(n.a));
      return std::string(language_.type(n.type)) + "(" + arg(n.a) + ")";
    default:
      return "";
  }
}

kernel_text printer::finish(int parallel, std::int64_t grain) {
  kernel_text r;
  r.buffers = buffers_;
  r.writes.assign(writes_.begin(), writes_.end());
  r.parallel = parallel;
  r.grain = grain;
  std::string pointers, arrays, scratch = "a.scratch", sizes;
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    const std::string t = std::string(writes_.contains(buffers_[k]) ? "" : "const ") +
                          language_.storage(types_.type(buffers_[k]));
    pointers += "  " + t + "* __restrict b" + std::to_string(k) + " = static_cast<" + t +
                "*>(a.buffers[" + std::to_string(k) + "]);\n";
  }
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const std::string t = language_.storage(arrays_[k].type);
    arrays += "  " + t + "* __restrict s" + std::to_string(k) + " = reinterpret_cast<" + t + "*>(" +
              scratch + ");\n";
    scratch += " + (" + dim_text(arrays_[k].elements) + " + 7) / 8 * 64";
    r.scratch.push_back(arrays_[k].elements);
  }
  for (std::size_t k = 0; k < dims_.size(); ++k)
    sizes += "  [[maybe_unused]] const long n" + std::to_string(k) + " = a.dims[" +
             std::to_string(k) + "];\n";
  r.dims = dims_;
  r.text = "{\n" + pointers + sizes + arrays + body_ + "}\n";
  return r;
}

}  // namespace ropewalk
