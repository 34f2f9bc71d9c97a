// session<program>: a program of a model header, bound and ready to run.
//
//   ropewalk::session<gpt::train> s(ropewalk::any_device(), {{gpt::B, 4}});
//   s.run(gpt::tokens = x, gpt::targets = y, ropewalk::learning_rate = 1e-3f);
//   float l = s.get(gpt::loss).item();
//
// Link the target that ropewalk_add_model made of the header: it holds the compiled kernels.
#pragma once
#include "ropewalk/core/program.hpp"
#include "ropewalk/graph/flatten.hpp"
#include "ropewalk/runtime/session.hpp"

namespace ropewalk {

// The input that programs which minimize read.
inline constexpr input_t<"learning_rate", shp<"[]">, dtype::f32> learning_rate{};

// The program has no output of this expression.
template <class Shp>
struct not_an_output_of_the_program : mistake<Shp> {
  static_assert(never<Shp>, "not an output of the program");
};

template <auto Program>
class session : public session_core {
 public:
  using program_type = std::remove_cvref_t<decltype(Program)>;

  explicit session(const device& on, std::initializer_list<dim_binding> dims = {},
                   const session_options& options = {})
      : session(on, std::span<const dim_binding>(dims.begin(), dims.size()), options) {}
  session(const device& on, std::span<const dim_binding> dims, const session_options& options = {})
      : session_core(flatten(Program.table(), dims), on, dims, options) {}

  // Sets the inputs given and runs the program once.
  template <class... Input, class... Data>
  void run(const bound_input<Input, Data>&... in) {
    (set_one(Input::name(), in.data), ...);
    session_core::run();
  }
  using session_core::get;
  // An output by its expression.
  template <expression E>
    requires(program_type::template has_output<E>)
  tensor_view get(const E&) const {
    return session_core::get(program_type::template output_name<E>());
  }
  template <expression E, class Error = not_an_output_of_the_program<shp_of<E>>>
    requires(!program_type::template has_output<E>)
  Error get(const E&) const;

 private:
  template <class Data>
  void set_one(std::string_view name, const Data& data) {
    if constexpr (std::is_arithmetic_v<Data>) set(name, host_data(&data, dtype_of<Data>(), 1));
    else set(name, host_data(data));
  }
};

}  // namespace ropewalk
