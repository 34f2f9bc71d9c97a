// Expressions: empty objects whose type is the node.
//
//   node<Op, In...>   an op applied to expressions; equal types are one node
//   named<F>          what let([=] { return e; }) makes: e under a short name
//
// Every expression E has `E::type` (tensor_type), `inputs_of<E>` (what it reads) and `record_of<E>()`
// (its record). New kinds of expression specialise `expr_traits`.
#pragma once
#include <type_traits>
#include <utility>

#include "ropewalk/core/record.hpp"
#include "ropewalk/graph/lowering.hpp"

namespace ropewalk {

struct expr_tag {};

template <class E>
concept expression = std::is_base_of_v<expr_tag, std::remove_cvref_t<E>>;

// A gradient rule returns this where no gradient flows (integers, stop_gradient).
struct no_gradient {};

template <class... T>
struct list {
  static constexpr int size = sizeof...(T);
};

// What a class of ops gives: name, kind, and those of results, lower, reference, kernel, workspace,
// flops, strided_inputs that apply. Op::family is the class that holds them.
template <class Op>
constexpr op_info make_op_info() {
  op_info r{.name = Op::name, .kind = Op::kind};
  if constexpr (requires { Op::results; }) r.results = Op::results;
  if constexpr (requires(lowering& l) { Op::lower(l); }) r.lower = &Op::lower;
  if constexpr (requires(const reference_call& c) { Op::reference(c); })
    r.reference = &Op::reference;
  if constexpr (requires(const kernel_call& c) { Op::kernel(c); }) r.kernel = &Op::kernel;
  if constexpr (requires(const kernel_call& c) { Op::workspace(c); }) r.workspace = &Op::workspace;
  if constexpr (requires(const kernel_call& c) { Op::flops(c); }) r.flops = &Op::flops;
  if constexpr (requires { Op::strided_inputs; }) r.strided_inputs = Op::strided_inputs;
  if constexpr (requires { Op::wanted_results; }) r.wanted_results = Op::wanted_results;
  if constexpr (requires { Op::wants_scope; }) r.wants_scope = Op::wants_scope;
  r.result = &Op::result;
  return r;
}
template <class Family>
inline constexpr op_info own_op = make_op_info<Family>();

// The library's own ops are made once, in codegen/graph/library_ops.cpp: a model's file only names
// them, and their lowering and reference functions are not compiled again. The line
//   ROPEWALK_LIBRARY_OP(abs);
// in the header of op::abs says that it is one of them; an op without it is made where it is used.
template <class Family>
inline constexpr bool in_library = false;
template <class Family>
struct library_op {
  static const op_info info;
};
#ifdef ROPEWALK_DEFINE_LIBRARY_OPS
template <class Family>
constinit const op_info library_op<Family>::info = make_op_info<Family>();
#define ROPEWALK_LIBRARY_OP(Family)                       \
  template <>                                             \
  inline constexpr bool in_library<op::Family> = true;    \
  template const op_info library_op<op::Family>::info
#else
#define ROPEWALK_LIBRARY_OP(Family)                    \
  template <>                                          \
  inline constexpr bool in_library<op::Family> = true; \
  extern template const op_info library_op<op::Family>::info
#endif

namespace detail {
template <class Family>
constexpr const op_info& op_of() {
  if constexpr (in_library<Family>) return library_op<Family>::info;
  else return own_op<Family>;
}
}  // namespace detail
template <class Family>
inline constexpr const op_info& family_info = detail::op_of<Family>();

// How many names a type prints: what an operand used twice at one level doubles. let() counts one.
template <class E>
inline constexpr int weight = 1;
inline constexpr int max_weight = 400;

namespace detail {
template <class Op, class... In>
consteval tensor_type result_of(int k) {
  const tensor_type operands[sizeof...(In) + 1] = {In::type...};
  return Op::family::result(Op::attributes, operands, static_cast<int>(sizeof...(In)), k);
}
}  // namespace detail

// Op gives `family`, `attributes` (attrs) and result(attrs, types, count, result index).
template <class Op, class... In>
struct node : expr_tag {
  static_assert(sizeof...(In) == 0 || (expression<In> && ...));
  static constexpr tensor_type type =
      detail::result_of<Op, In...>(0);
};

template <class Op, class... In>
inline constexpr int weight<node<Op, In...>> = (1 + ... + weight<In>);

// let(F): F's result under the name of F's closure type. Use what is used twice through it.
template <class F>
struct named : expr_tag {
  using def = decltype(std::declval<const F&>()());
  static constexpr tensor_type type = def::type;
};

template <class F>
constexpr named<F> let(const F&) {
  return {};
}

// Result K of a node with several.
template <int K, class Node>
struct pick : expr_tag {
  static constexpr tensor_type type = Node::template result_type<K>;
};
template <int K, class Op, class... In>
struct pick<K, node<Op, In...>> : expr_tag {
  using owner = node<Op, In...>;
  static constexpr tensor_type type = detail::result_of<Op, In...>(K);
};

template <int K, class Node>
inline constexpr int weight<pick<K, Node>> = 1 + weight<Node>;

template <class E>
inline constexpr record rec = E::make_record();

// What E is another name for; void where it is itself.
template <class E>
struct alias_of {
  using type = void;
};
template <class F>
struct alias_of<named<F>> {
  using type = typename named<F>::def;
};

// The record of E; of what it names, where it is a name.
template <class E>
consteval const record* record_of() {
  using def = typename alias_of<E>::type;
  if constexpr (std::is_void_v<def>) return &rec<E>;
  else return record_of<def>();
}

namespace detail {
template <class... E>
inline constexpr const record* records[sizeof...(E) + 1] = {record_of<E>()..., nullptr};
template <class... E>
consteval record_inputs record_inputs_of() {
  if constexpr (sizeof...(E) <= record_inputs::most_inside) return {{record_of<E>()...}};
  else return {{}, records<E...>};
}
}  // namespace detail

template <class E>
struct expr_traits {
  using inputs = typename E::inputs;
};
template <class E>
using inputs_of = typename expr_traits<E>::inputs;

template <class Op, class... In>
struct expr_traits<node<Op, In...>> {
  using inputs = list<In...>;
};
template <class Op, class... In>
inline constexpr record rec<node<Op, In...>> = {
    .op = &detail::op_of<typename Op::family>(), .a = &Op::attributes,
    .in = detail::record_inputs_of<In...>(), .n_in = static_cast<int>(sizeof...(In))};

template <class F>
struct expr_traits<named<F>> {
  using inputs = list<typename named<F>::def>;
};
template <int K, class Node>
struct expr_traits<pick<K, Node>> {
  using inputs = list<Node>;
};
template <int K, class Node>
inline constexpr record rec<pick<K, Node>> = {
    .op = &result_info, .in = detail::record_inputs_of<Node>(), .n_in = 1, .i = {K}};

// The expression an op makes of its operands.
template <class Op, class... In>
constexpr node<Op, In...> make(const In&...) {
  return {};
}

}  // namespace ropewalk
