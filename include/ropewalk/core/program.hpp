// Programs: what is compiled and run.
//
//   inline constexpr auto train = program<"train">([] {
//     return minimize(loss, adamw{.weight_decay = 0.1}, clip_by_global_norm(1.0));
//   });
//   inline constexpr auto eval = program<"eval">([] {
//     return outputs(output<"loss">(loss), output<"logits">(logits));
//   });
//
// A program that minimizes is in training mode (dropout acts, batch norm uses the batch), any other
// is not, unless it says `.in_training_mode()`.
#pragma once
#include "ropewalk/grad/grad.hpp"
#include "ropewalk/grad/table.hpp"
#include "ropewalk/train/optimizer.hpp"

namespace ropewalk {

// One thing that a program gives.
struct program_entry {
  enum class kind_t { output, minimize, gradients } kind;
  const char* name;
  const record* value;              // the output, or the loss
  const gradient_table* gradients;  // of the loss in all trained parameters
};

// A program as its types leave it: constexpr data that codegen/graph/flatten.cpp reads.
struct program_table {
  const char* name;
  const program_entry* entries;
  int n_entries;
  const training* rule;  // nullptr where nothing is minimized
  bool train_mode;
};

// Items of a program. `entry<Root>` makes the constexpr entry; Root names the item's expression by the
// program's own type, which keeps the names of all derived types short.
template <text Name, class E>
struct output_t {
  using expr = E;
  static constexpr const char* name = stored_text<Name>.s;
  template <class Root>
  static constexpr program_entry entry() {
    return {program_entry::kind_t::output, name, record_of<E>(), nullptr};
  }
};
template <class Loss>
struct minimized {
  using expr = Loss;
  static constexpr const char* name = "loss";
  training rule;
  template <class Root>
  static constexpr program_entry entry() {
    using D = deriv<Root, detail::unit_seed<Loss>>;
    return {program_entry::kind_t::minimize, name, record_of<Loss>(), &detail::gradient_tables<D>::value};
  }
};
template <class Loss>
struct gradients_t {
  using expr = Loss;
  static constexpr const char* name = "loss";
  template <class Root>
  static constexpr program_entry entry() {
    program_entry e = minimized<Loss>::template entry<Root>();
    e.kind = program_entry::kind_t::gradients;
    return e;
  }
};

template <text Name, expression E>
constexpr output_t<Name, E> output(const E&) {
  return {};
}

// Outputs "grad.<path>" for every trained parameter.
template <expression Loss>
  requires(Loss::type.s.rank == 0)
constexpr gradients_t<Loss> parameter_gradients(const Loss&) {
  return {};
}

template <expression Loss, class Error = loss_is_not_a_scalar<shp_of<Loss>>>
  requires(Loss::type.s.rank != 0)
Error parameter_gradients(const Loss&);

// One step of training: outputs "loss" and "grad_norm" (before clipping), reads the input
// "learning_rate", updates the parameters and the optimizer's state.
template <expression Loss, class... Option>
  requires(Loss::type.s.rank == 0)
constexpr minimized<Loss> minimize(const Loss&, const optimizer& rule, const Option&... option) {
  minimized<Loss> m;
  m.rule.rule = rule;
  (option.apply(m.rule), ...);
  return m;
}
template <expression Loss, class... Option, class Error = loss_is_not_a_scalar<shp_of<Loss>>>
  requires(Loss::type.s.rank != 0)
Error minimize(const Loss&, const optimizer&, const Option&...);

template <class... Item>
struct outputs_t {
  using items = list<Item...>;
  training rule;
  bool minimizes = false, train_mode = false;
  constexpr outputs_t in_training_mode() const {
    outputs_t r = *this;
    r.train_mode = true;
    return r;
  }
};

namespace detail {
template <class... Item, class I>
constexpr void take_rule(outputs_t<Item...>& o, const I& item) {
  if constexpr (requires { item.rule; }) o.rule = item.rule, o.minimizes = o.train_mode = true;
}
template <class T>
constexpr auto as_outputs(const T& item) {
  if constexpr (requires { typename T::items; }) {
    return item;
  } else {
    outputs_t<T> o;
    take_rule(o, item);
    return o;
  }
}
template <class F>
inline constexpr auto program_value = as_outputs(F{}());
template <class F>
using program_items = typename std::remove_cvref_t<decltype(program_value<F>)>::items;

// The name of the output whose expression is E; nullptr where there is none.
template <class E, class Items>
inline constexpr const char* output_name = nullptr;
template <class E, class... Item>
inline constexpr const char* output_name<E, list<Item...>> = [] {
  const char* n = nullptr;
  ((n = n == nullptr && std::is_same_v<E, typename Item::expr> ? Item::name : n), ...);
  return n;
}();

// Item K of the program F as a body.
template <class F, int K>
struct program_root {
  using results = list<typename boost::mp11::mp_at_c<program_items<F>, K>::expr>;
};
template <class F, class Items, class Seq>
struct program_entries;
template <class F, class... Item, std::size_t... K>
struct program_entries<F, list<Item...>, std::index_sequence<K...>> {
  static constexpr program_entry value[sizeof...(Item) + 1] = {
      Item::template entry<program_root<F, static_cast<int>(K)>>()..., {}};
};
}  // namespace detail

template <class... Item>
constexpr outputs_t<Item...> outputs(const Item&... item) {
  outputs_t<Item...> o;
  (detail::take_rule(o, item), ...);
  return o;
}

template <text Name, class F>
struct program_t {
  static constexpr const char* name = stored_text<Name>.s;
  template <class E>
  static constexpr bool has_output = detail::output_name<E, detail::program_items<F>> != nullptr;
  template <class E>
  static constexpr const char* output_name() {
    return detail::output_name<E, detail::program_items<F>>;
  }
  // The table, made where a program is used: model headers that only declare it stay cheap.
  static constexpr program_table table() {
    constexpr auto& v = detail::program_value<F>;
    using items = detail::program_items<F>;
    constexpr int n = detail::length<items>;
    return {name, detail::program_entries<F, items, std::make_index_sequence<n>>::value, n,
            v.minimizes ? &v.rule : nullptr, v.train_mode};
  }
};
template <text Name, class F>
constexpr program_t<Name, F> program(F) {
  return {};
}

}  // namespace ropewalk
