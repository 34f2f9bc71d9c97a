// Leaves: where values enter. inputs (given to a run), params (trained), states (kept between
// runs, updated by the program), constants (in the program's text) and formals (a module's
// arguments).
#pragma once
#include "ropewalk/core/expr.hpp"
#include "ropewalk/graph/graph.hpp"

namespace ropewalk {

// How a param or a state starts. The values of a param depend on the session's seed and the param's
// path only.
struct initializer {
  enum kind_t : std::int64_t { zeros, ones, constant, normal, uniform } kind = zeros;
  double a = 0, b = 0;
  bool trainable = true;
};
constexpr initializer init_zeros() { return {}; }
constexpr initializer init_ones() { return {initializer::ones}; }
constexpr initializer init_constant(double v) { return {initializer::constant, v}; }
constexpr initializer init_normal(double std, double mean = 0) {
  return {initializer::normal, mean, std};
}
constexpr initializer init_uniform(double low, double high) {
  return {initializer::uniform, low, high};
}
// The same start, never trained.
constexpr initializer frozen(initializer i) {
  i.trainable = false;
  return i;
}

namespace detail {
constexpr attrs leaf_attrs(const initializer& i) {
  return {.i = {static_cast<std::int64_t>(i.kind), i.trainable ? 1 : 0}, .f = {i.a, i.b}};
}
}  // namespace detail

// Data for an input of a run, as `tokens = data` makes it.
template <class Input, class Data>
struct bound_input {
  const Data& data;
};

// A value given to every run: `s.run(tokens = data)`; data is a span, a vector or a number.
template <text Name, class Shp, dtype D>
struct input_t : expr_tag {
  template <class Data>
    requires(!expression<Data>)
  constexpr bound_input<input_t, Data> operator=(const Data& data) const {  // NOLINT: makes a binding
    return {data};
  }
  static constexpr std::string_view name() { return Name.view(); }
  using inputs = list<>;
  static constexpr tensor_type type{D, Shp::value};
  static constexpr record make_record() {
    return {.op = &input_info, .type = &type, .name = stored_text<Name>.s};
  }
};
template <text Name, class Shp, dtype D, initializer I>
struct param_t : expr_tag {
  using inputs = list<>;
  static constexpr tensor_type type{D, Shp::value};
  static constexpr bool trainable = I.trainable;
  static constexpr attrs attributes = detail::leaf_attrs(I);
  static constexpr record make_record() {
    return {.op = &param_info, .a = &attributes, .type = &type, .name = stored_text<Name>.s};
  }
};
template <text Name, class Shp, dtype D, initializer I>
struct state_t : expr_tag {
  using inputs = list<>;
  static constexpr tensor_type type{D, Shp::value};
  static constexpr attrs attributes = detail::leaf_attrs(I);
  static constexpr record make_record() {
    return {.op = &state_info, .a = &attributes, .type = &type, .name = stored_text<Name>.s};
  }
};
// A number as a template argument (a class: plain double arguments trip g++ 12).
struct number {
  double v = 0;
  constexpr number(double value) : v(value) {}  // NOLINT: implicit, constant<0.5>
};
// A scalar; expand() gives it a shape.
template <number Value, dtype D>
struct constant_t : expr_tag {
  using inputs = list<>;
  static constexpr tensor_type type{D, shape{}};
  static constexpr attrs attributes = {.f = {Value.v}};
  static constexpr record make_record() {
    return {.op = &constant_info, .a = &attributes, .type = &type};
  }
};
// Argument I of a module's body.
template <int I, class Shp, dtype D>
struct formal : expr_tag {
  using inputs = list<>;
  static constexpr tensor_type type{D, Shp::value};
  static constexpr record make_record() {
    return {.op = &formal_info, .i = {I}};
  }
};

template <class E>
inline constexpr bool is_leaf = false;
template <text N, class S, dtype D>
inline constexpr bool is_leaf<input_t<N, S, D>> = true;
template <text N, class S, dtype D, initializer I>
inline constexpr bool is_leaf<param_t<N, S, D, I>> = true;
template <text N, class S, dtype D, initializer I>
inline constexpr bool is_leaf<state_t<N, S, D, I>> = true;
template <number V, dtype D>
inline constexpr bool is_leaf<constant_t<V, D>> = true;
template <int I, class S, dtype D>
inline constexpr bool is_leaf<formal<I, S, D>> = true;

template <class E>
inline constexpr bool is_param = false;
template <text N, class S, dtype D, initializer I>
inline constexpr bool is_param<param_t<N, S, D, I>> = true;

template <text Name, dtype D, dim... Dims>
inline constexpr input_t<Name, shp_of_dims<Dims...>, D> input{};
template <text Name, initializer I, dim... Dims>
inline constexpr param_t<Name, shp_of_dims<Dims...>, dtype::f32, I> param{};
template <text Name, initializer I, dim... Dims>
inline constexpr state_t<Name, shp_of_dims<Dims...>, dtype::f32, I> state{};
template <number Value, dtype D = dtype::f32>
inline constexpr constant_t<Value, D> constant{};

}  // namespace ropewalk
