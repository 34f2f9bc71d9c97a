// Kernels that reduce rows for a strip of columns at a time: column sums of few rows or very many
// columns, reductions of a middle axis, and the second stage of blocked reductions.
#include <algorithm>

#include "emit_printer.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t strip = 64;  // columns: a few cache lines of every row

int find_reduction(const arena& a, int e, const std::vector<int>& vars) {
  if (a[e].op == scalar_op::reduce && a.reduction_of(e).vars == vars) return e;
  int found = -1;
  a.for_each_child(e, [&](int k) {
    if (found < 0 && a.reduces(k)) found = find_reduction(a, k, vars);
  });
  return found;
}

}  // namespace

kernel_text emit_columns(arena& a, column_work work, const buffer_table& types) {
  printer p(a, types);
  dim_table& dims = a.dims();
  const std::string c = p.var(work.space.column_vars[0]);
  const std::string n = p.dim_text(work.space.columns);
  int parallel = work.space.columns;
  std::int64_t grain = strip;
  if (work.outer < 0) {
    p.open("for (long base = a.begin; base < a.end; base += " + std::to_string(strip) + ") {");
    p.line("const long top = smaller(base + " + std::to_string(strip) + ", a.end);");
  } else {
    const std::string o = p.var(work.outer);
    parallel = a.variable_extent(work.outer);
    grain = 1;
    p.open("for (long " + o + " = a.begin; " + o + " < a.end; ++" + o + ") {");
    p.open("for (long base = 0; base < " + n + "; base += " + std::to_string(strip) + ") {");
    p.line("const long top = smaller<long>(base + " + std::to_string(strip) + ", " + n + ");");
  }
  auto over_strip = [&](auto body) {
    p.simd({});
    p.open("for (long " + c + " = base; " + c + " < top; ++" + c + ") {");
    body();
    p.close();
  };
  struct sum {
    int reduction;
    std::string total, inner;
  };
  std::vector<sum> sums;
  const bool deep =
      !dims.fixed(work.space.rows) || dims.number(work.space.rows) > 2 * terms_per_accumulator;
  for (const kernel_root& r : work.roots) {
    const int e = find_reduction(a, r.value, work.space.row_vars);
    if (e < 0) throw error("emit", "a column kernel without its reduction");
    if (std::any_of(sums.begin(), sums.end(), [&](const sum& s) { return s.reduction == e; }))
      continue;
    sum s{e, p.fresh("total"), {}};
    const char* t = cpp_language().type(a[e].type);
    p.line(std::string(t) + " " + s.total + "[" + std::to_string(strip) + "];");
    if (deep) {
      s.inner = p.fresh("sum");
      p.line(std::string(t) + " " + s.inner + "[" + std::to_string(strip) + "];");
    } else {
      s.inner = s.total;
    }
    sums.push_back(s);
  }
  auto clear = [&](bool inner) {
    p.line("for (long j = 0; j < " + std::to_string(strip) + "; ++j) {");
    for (const sum& s : sums)
      p.line("  " + (inner ? s.inner : s.total) +
             "[j] = " + p.initial(a.reduction_of(s.reduction).kind, a[s.reduction].type) + ";");
    p.line("}");
  };
  clear(false);
  const int b = work.space.row_vars[0];
  const std::string v = p.var(b), count = p.dim_text(work.space.rows);
  if (deep) {
    const std::string t = std::to_string(terms_per_accumulator);
    p.open("for (long from = 0; from < " + count + "; from += " + t + ") {");
    p.line("const long to = smaller<long>(from + " + t + ", " + count + ");");
    clear(true);
    p.open("for (long " + v + " = from; " + v + " < to; ++" + v + ") {");
  } else {
    p.open("for (long " + v + " = 0; " + v + " < " + count + "; ++" + v + ") {");
  }
  for (const sum& s : sums) p.count(a.reduction_of(s.reduction).body);
  for (const sum& s : sums)
    p.hoist(a.reduction_of(s.reduction).body, arena::bit(work.space.column_vars[0]));
  over_strip([&] {
    for (const sum& s : sums) {
      const reduce_record r = a.reduction_of(s.reduction);
      const std::string cell = s.inner + "[" + c + " - base]", x = p.value(r.body);
      p.line(cell + " = " + printer::combine(r.kind, a[s.reduction].type, cell, x) + ";");
    }
  });
  p.close();
  if (deep) {
    p.line("for (long j = 0; j < " + std::to_string(strip) + "; ++j) {");
    for (const sum& s : sums)
      p.line("  " + s.total + "[j] = " +
             printer::combine(a.reduction_of(s.reduction).kind, a[s.reduction].type,
                              s.total + "[j]", s.inner + "[j]") +
             ";");
    p.line("}");
    p.close();
  }
  p.forget_counts();
  for (const kernel_root& r : work.roots) p.count(r.value);
  over_strip([&] {
    for (const sum& s : sums) p.name(s.reduction, s.total + "[" + c + " - base]");
    for (const kernel_root& r : work.roots) {
      const std::string x = p.value(r.value);
      p.line(p.store_text(r.buffer, p.address(r.element), x));
    }
  });
  p.close();
  if (work.outer >= 0) p.close();
  return p.finish(parallel, grain);
}

}  // namespace ropewalk
