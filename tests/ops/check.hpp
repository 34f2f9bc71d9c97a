// Laws that every program of leaves.hpp obeys, evaluated by the float64 reference.
#pragma once
#include <random>
#include <string>
#include <vector>

#include <ropewalk/core/program.hpp>
#include <ropewalk/graph/reference.hpp>

namespace cases {

using values = std::map<std::string, ropewalk::dense>;

struct interval {
  double low = -1.5, high = 1.5;
};

// The program equals its golden file (the name with - for _): outputs and gradients to 1e-10 of the
// largest magnitude. `more` gives leaves that the file lacks. Returns how many tensors were
// compared.
int check_golden(const ropewalk::program_table& t, const values& more = {});
int check_golden(const ropewalk::program_table& t, const std::string& file, const values& more);

// For random float inputs from the interval (integer inputs by the golden file, or from `more`):
// every "d_<input>" is the derivative of sum(out * d_out), by central differences.
void check_gradients(const ropewalk::program_table& t, interval in = {}, const values& more = {},
                     std::span<const ropewalk::dim_binding> bindings = {});

// sum(out * d_out) = sum(x * d_x) for all inputs together: the adjoint identity of linear programs.
void check_adjoint(const ropewalk::program_table& t, const values& more = {},
                   std::span<const ropewalk::dim_binding> bindings = {});

// The program's compiled float32 kernels agree with the float64 reference, both given inputs that
// float32 holds: the golden file's (random ones where there is none), and random ones. Tolerance:
// 1e-5 of the largest magnitude of each output; integers and infinities exactly. 1 and 3 threads
// give the same bits.
void check_kernels(const ropewalk::program_table& t, interval in = {}, const values& more = {},
                   std::span<const ropewalk::dim_binding> bindings = {});

// Random values for the float leaves of a graph, `more` for the others.
values random_leaves(const ropewalk::program_graph& p, interval in, const values& more,
                     std::span<const ropewalk::dim_binding> bindings, std::mt19937& r);

// The leaves of a program that its golden file (or the leaf's initializer) gives; {} without a
// file.
values golden_leaves(const ropewalk::program_graph& p, const values& more = {});

// |a - b| <= tolerance * largest |b| everywhere; infinities and NaN in the same places.
void check_close(const std::string& what, const ropewalk::dense& a, const ropewalk::dense& b,
                 double tolerance);

ropewalk::dense filled(std::vector<std::int64_t> extent, double v);

}  // namespace cases
