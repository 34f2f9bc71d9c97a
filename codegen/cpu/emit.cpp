// Kernels over rows: for every row some passes over its columns, each computing reductions and
// storing results; with `blocks`, accumulators over the rows of a block as well.
#include "emit.hpp"

#include <algorithm>

#include "emit_printer.hpp"

namespace ropewalk {
namespace {

class row_emitter {
 public:
  row_emitter(arena& a, kernel_work work, const buffer_table& types)
      : a_(a), types_(types), p_(a, types), w_(std::move(work)) {
    for (int v : w_.space.column_vars) columns_ |= arena::bit(v);
    for (int v : w_.space.row_vars) rows_ |= arena::bit(v);
  }

  kernel_text run() {
    for (const kernel_root& r : w_.roots) find_reductions(r.value);
    plan_passes();
    if (w_.space.column_vars.empty() && reductions_.empty()) flat_ = !has_loops();
    dim_table& dims = a_.dims();
    if (w_.blocks) return blocks();
    const double width = std::max(1.0, dims.guess(w_.space.columns));
    const std::string v = p_.var(w_.space.row_vars.empty() ? -1 : w_.space.row_vars[0]);
    hoist_constants();
    if (flat_) p_.simd({});
    p_.open("for (long " + v + " = a.begin; " + v + " < a.end; ++" + v + ") {");
    row();
    p_.close();
    return p_.finish(w_.space.rows,
                     std::max<std::int64_t>(1, static_cast<std::int64_t>(16384 / width)));
  }

 private:
  bool over_columns(int e) const { return (a_.variables(e) & columns_) != 0; }

  // A reduction over the kernel's own columns.
  bool is_row_reduction(int e) const {
    return a_[e].op == scalar_op::reduce && !w_.space.column_vars.empty() &&
           a_.reduction_of(e).vars == w_.space.column_vars;
  }
  // How many passes must be over before e can be computed.
  int find_reductions(int e) {
    if (const auto it = level_.find(e); it != level_.end()) return it->second;
    int level = 0;
    a_.for_each_child(e, [&](int k) { level = std::max(level, find_reductions(k)); });
    if (is_row_reduction(e)) {
      reductions_.push_back(e);
      ++level;
    }
    return level_[e] = level;
  }
  bool has_loops() {
    return std::any_of(level_.begin(), level_.end(),
                       [&](auto& x) { return a_[x.first].op == scalar_op::reduce; });
  }

  struct pass {
    std::vector<int> reductions;     // expressions
    std::vector<std::size_t> roots;  // per row and column
  };
  void plan_passes() {
    passes_.resize(1);
    auto pass_of = [&](int level) -> pass& {
      while (static_cast<int>(passes_.size()) <= level) passes_.emplace_back();
      return passes_[static_cast<std::size_t>(level)];
    };
    for (int e : reductions_) pass_of(level_[e] - 1).reductions.push_back(e);
    for (std::size_t k = 0; k < w_.roots.size(); ++k) {
      const kernel_root& r = w_.roots[k];
      if (r.every_column || over_columns(r.value) || (r.element >= 0 && over_columns(r.element)))
        pass_of(level_[r.value]).roots.push_back(k);
      else
        last_.push_back(k);
    }
  }

  // --- values kept between the passes of a row ---------------------------------------------------
  bool dear(int e) {
    const auto [it, fresh] = dear_.try_emplace(e, false);
    if (!fresh) return it->second;
    bool d = false;
    switch (a_[e].op) {
      case scalar_op::exp:
      case scalar_op::log:
      case scalar_op::sin:
      case scalar_op::cos:
      case scalar_op::tanh:
      case scalar_op::erf:
      case scalar_op::pow:
      case scalar_op::random:
        d = over_columns(e);
        break;
      case scalar_op::reduce:  // a nested loop in every column
        if (over_columns(e)) return dear_[e] = true;
        return false;
      default:
        break;
    }
    a_.for_each_child(e, [&](int k) { d = dear(k) || d; });
    return dear_[e] = d;
  }
  void mark(int e, std::unordered_map<int, int>& seen, int number) {
    if (is_row_reduction(e) || !over_columns(e)) return;
    if (!seen.try_emplace(e, number).second) return;
    a_.for_each_child(e, [&](int k) { mark(k, seen, number); });
  }
  void find_kept(int e, const std::unordered_map<int, int>& before, std::vector<int>& kept,
                 std::unordered_map<int, int>& seen) {
    if (is_row_reduction(e) || !over_columns(e)) return;
    if (!seen.try_emplace(e, 0).second) return;
    if (before.contains(e) && a_[e].op != scalar_op::load && a_[e].type != dtype::i32 &&
        a_[e].type != dtype::boolean) {
      const bool stored = std::any_of(w_.roots.begin(), w_.roots.end(), [&](const kernel_root& r) {
        return r.value == e && r.kind == root_kind::store && computed_type(r.type) == r.type;
      });
      if (stored || dear(e)) {
        kept.push_back(e);
        return;
      }
    }
    a_.for_each_child(e, [&](int k) { find_kept(k, before, kept, seen); });
  }
  // Decides what each pass leaves in memory for the later ones, and rewrites those.
  void keep_between_passes() {
    std::unordered_map<int, int> before, replaced;
    for (std::size_t n = 0; n < passes_.size(); ++n) {
      std::vector<int> kept;
      std::unordered_map<int, int> seen;
      if (n > 0)
        for (int e : values(passes_[n])) find_kept(e, before, kept, seen);
      for (int e : kept) {
        if (replaced.contains(e)) continue;
        const dtype type = a_[e].type;
        int buffer = -1, element = -1;
        for (const kernel_root& r : w_.roots)
          if (r.value == e && r.kind == root_kind::store && r.type == type && buffer < 0)
            buffer = r.buffer, element = r.element;
        if (buffer < 0) {
          buffer = p_.scratch_array(type, w_.space.columns);
          element = w_.space.column;
          // Written in the first pass that computes it.
          scratch_[static_cast<std::size_t>(before[e])].push_back({e, buffer});
        }
        replaced[e] = a_.load(buffer, type, element, true);
      }
      for (int e : values(passes_[n])) mark(e, before, static_cast<int>(n));
      replacements_.push_back(replaced);
    }
  }
  std::vector<int> values(const pass& x) {
    std::vector<int> r;
    for (int e : x.reductions) r.push_back(a_.reduction_of(e).body);
    for (std::size_t k : x.roots) r.push_back(w_.roots[k].value);
    return r;
  }

  // --- printing ----------------------------------------------------------------------------------
  // What is the same for all rows and columns.
  void hoist_constants() {
    for (const kernel_root& r : w_.roots) p_.count(r.value);
    std::set<int> seen;
    auto walk = [&](auto& self, int e) -> void {
      if (!seen.insert(e).second) return;
      if (a_.variables(e) == 0 && !a_.reduces(e)) return p_.hoist(e, rows_ | columns_);
      a_.for_each_child(e, [&](int k) { self(self, k); });
    };
    for (const kernel_root& r : w_.roots) walk(walk, r.value);
  }

  // One row; the row variable is bound.
  void row() {
    if (scratch_.empty()) {
      scratch_.resize(passes_.size());
      keep_between_passes();
    }
    for (std::size_t n = 0; n < passes_.size(); ++n)
      if (!passes_[n].reductions.empty() || !passes_[n].roots.empty()) print_pass(n);
    p_.forget_counts();
    for (std::size_t k : last_) p_.count(w_.roots[k].value);
    for (std::size_t k : last_) {
      const kernel_root& r = w_.roots[k];
      if (r.kind == root_kind::store) {
        const std::string x = p_.value(r.value);
        p_.hoist(r.element, 0);
        p_.line(p_.store_text(r.buffer, p_.address(r.element), x));
      } else {
        const std::string x = p_.value(r.value), t = totals_.at(k);
        p_.line(t + " = " + printer::combine(r.how, a_[r.value].type, t, x) + ";");
      }
    }
  }

  struct task {
    int value = -1, element = -1;
    std::string total;  // reductions
    reduction how = reduction::sum;
    int buffer = -1;   // stores and column totals
    bool add = false;  // column totals
  };

  void print_pass(std::size_t n) {
    const pass& x = passes_[n];
    std::vector<task> tasks;
    std::vector<printer::accumulator> acc;
    std::vector<std::pair<int, std::string>> results;
    for (const auto& [e, buffer] : scratch_[n])
      tasks.push_back(
          {.value = substitute(e, n), .element = w_.space.column, .total = {}, .buffer = buffer});
    for (int e : x.reductions) {
      const reduce_record r = a_.reduction_of(e);
      const dtype d = a_[e].type;
      const std::string t = p_.fresh("t");
      p_.variable(d, t, p_.initial(r.kind, d));
      tasks.push_back({.value = substitute(r.body, n), .total = t, .how = r.kind});
      acc.push_back({t, r.kind});
      results.emplace_back(e, t);
    }
    for (std::size_t k : x.roots) {
      const kernel_root& r = w_.roots[k];
      task t{.value = substitute(r.value, n),
             .element = r.element,
             .total = {},
             .how = r.how,
             .buffer = r.buffer};
      if (r.kind == root_kind::accumulate) {
        if (column_totals_.contains(k)) {
          t.buffer = column_totals_.at(k), t.element = w_.space.column, t.add = true;
        } else {
          t.buffer = -1, t.element = -1;
          t.total = totals_.at(k);
          acc.push_back({t.total, r.how});
        }
      }
      tasks.push_back(std::move(t));
    }
    print_updates(tasks);
    if (!tasks.empty()) {
      p_.forget_counts();
      for (const task& t : tasks) p_.count(t.value);
      nest(tasks, w_.space.column_vars, 0, acc);
    }
    for (const auto& [e, t] : results) p_.name(e, t);
  }

  // A store that for whole rows writes what is there already (a cache that gets a few rows) is done
  // under the rows' condition only. Takes such tasks out of the list.
  void print_updates(std::vector<task>& tasks) {
    std::vector<task> rest;
    for (task& t : tasks) {
      const expr_node n = a_[t.value];
      auto kept = [&](int e) {
        return a_[e].op == scalar_op::load && a_[e].b < 0 && a_[e].a == t.element &&
               a_[e].aux < scratch_base && types_.place(a_[e].aux) == types_.place(t.buffer);
      };
      const bool store = t.total.empty() && !t.add && t.buffer >= 0 && t.buffer < scratch_base;
      if (!store || n.op != scalar_op::select || over_columns(n.a) || (!kept(n.b) && !kept(n.c))) {
        rest.push_back(std::move(t));
        continue;
      }
      p_.forget_counts();
      p_.count(n.a);
      const std::string when = p_.value(n.a);
      p_.open("if (" + (kept(n.c) ? when : "!(" + when + ")") + ") {");
      t.value = kept(n.c) ? n.b : n.c;
      p_.count(t.value);
      nest({t}, w_.space.column_vars, 0, {});
      p_.close();
    }
    tasks = std::move(rest);
  }

  // --- loops over columns ------------------------------------------------------------------------
  // Where conditions on a loop's variable change, as far as they are numbers.
  std::vector<std::int64_t> breakpoints(const std::vector<task>& tasks, int v) {
    dim_table& dims = a_.dims();
    if (!dims.fixed(a_.variable_extent(v))) return {};
    const std::int64_t n = dims.number(a_.variable_extent(v));
    std::set<std::int64_t> at;
    std::set<int> seen;
    auto number = [&](int e, std::int64_t& k) {
      if (a_[e].op != scalar_op::extent || !a_.affine(e).terms.empty() ||
          !dims.fixed(a_.affine(e).constant))
        return false;
      k = dims.number(a_.affine(e).constant);
      return true;
    };
    auto walk = [&](auto& self, int e) -> void {
      if (!seen.insert(e).second || is_row_reduction(e) || (a_.variables(e) & arena::bit(v)) == 0)
        return;
      const expr_node& x = a_[e];
      std::int64_t k = 0;
      if (x.op == scalar_op::lt && number(x.b, k)) {
        const affine_form f = a_.form_of(x.a);
        if (f.terms.size() == 1 && a_[f.terms[0].atom].op == scalar_op::index &&
            a_[f.terms[0].atom].aux == v && dims.fixed(f.terms[0].coefficient)) {
          if (dims.number(f.terms[0].coefficient) == 1) at.insert(k);
          if (dims.number(f.terms[0].coefficient) == -1) at.insert(1 - k);
        }
      } else if (x.op == scalar_op::eq && a_[x.a].op == scalar_op::index && a_[x.a].aux == v &&
                 number(x.b, k)) {
        at.insert(k), at.insert(k + 1);
      } else if (x.op == scalar_op::eq && a_[x.b].op == scalar_op::index && a_[x.b].aux == v &&
                 number(x.a, k)) {
        at.insert(k), at.insert(k + 1);
      }
      a_.for_each_child(e, [&](int c) { self(self, c); });
    };
    for (const task& t : tasks) walk(walk, t.value);
    std::vector<std::int64_t> r{0};
    for (std::int64_t k : at)
      if (k > 0 && k < n) r.push_back(k);
    r.push_back(n);
    // Every piece prints the expressions again.
    return r.size() * seen.size() > 1500 ? std::vector<std::int64_t>{} : r;
  }

  void nest(const std::vector<task>& tasks, const std::vector<int>& vars, std::size_t k,
            const std::vector<printer::accumulator>& acc) {
    if (k == vars.size()) return print_tasks(tasks);
    const std::vector<std::int64_t> cuts = breakpoints(tasks, vars[k]);
    if (cuts.size() <= 2) return loop(tasks, vars, k, acc);
    dim_table& dims = a_.dims();
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      const int part = a_.new_variable(dims.of(cuts[c + 1] - cuts[c]));
      arena::substitution s{.variables = {}, .keep_bound = true, .exprs = {}, .done = {}};
      for (int r : reductions_) s.exprs[r] = r;
      s.variables.assign(static_cast<std::size_t>(a_.variables_made()), -1);
      s.variables[static_cast<std::size_t>(vars[k])] =
          a_.index_sum(a_.variable(part), a_.index_value(dims.of(cuts[c])));
      std::vector<task> piece = tasks;
      for (task& t : piece) {
        t.value = a_.substitute(t.value, s);
        if (t.element >= 0) t.element = a_.substitute(t.element, s);
      }
      p_.forget_counts();
      for (const task& t : piece) p_.count(t.value);
      std::vector<int> with = vars;
      with[k] = part;
      if (cuts[c + 1] - cuts[c] > 1) {
        loop(piece, with, k, acc);
      } else {
        p_.open("{");
        nest(piece, with, k + 1, acc);
        p_.close();
      }
    }
  }

  void loop(const std::vector<task>& tasks, const std::vector<int>& vars, std::size_t k,
            const std::vector<printer::accumulator>& acc) {
    std::uint64_t inner = 0;
    for (std::size_t i = k; i < vars.size(); ++i) inner |= arena::bit(vars[i]);
    for (const task& t : tasks) {
      p_.hoist(t.value, inner);
      if (t.element >= 0) p_.hoist(t.element, inner);
    }
    const std::string v = p_.var(vars[k]), end = p_.dim_text(a_.variable_extent(vars[k]));
    if (k + 1 == vars.size() && is_long_sum(acc, a_.variable_extent(vars[k])))
      return in_pieces(tasks, v, end, acc);
    if (k + 1 == vars.size()) p_.simd(acc);
    p_.open("for (long " + v + " = 0; " + v + " < " + end + "; ++" + v + ") {");
    nest(tasks, vars, k + 1, acc);
    p_.close();
  }

  // Sums of many terms: vectors of at least four accumulators, each of them added to few terms.
  static constexpr std::int64_t piece = 4 * terms_per_accumulator;
  bool is_long_sum(const std::vector<printer::accumulator>& acc, int extent) {
    dim_table& dims = a_.dims();
    if (dims.fixed(extent) && dims.number(extent) <= 2 * piece) return false;
    return std::any_of(acc.begin(), acc.end(), [](auto& x) { return x.how == reduction::sum; });
  }
  void in_pieces(std::vector<task> tasks, const std::string& v, const std::string& end,
                 std::vector<printer::accumulator> acc) {
    const std::string size = std::to_string(piece), from = p_.fresh("from"), to = p_.fresh("to");
    p_.open("for (long " + from + " = 0; " + from + " < " + end + "; " + from + " += " + size +
            ") {");
    p_.line("const long " + to + " = smaller<long>(" + from + " + " + size + ", " + end + ");");
    std::vector<std::string> adds;
    for (printer::accumulator& x : acc)
      for (task& t : tasks) {
        if (t.total != x.name) continue;
        const dtype d = a_[t.value].type;
        t.total = p_.fresh("sum");
        p_.variable(d, t.total, p_.initial(x.how, d));
        adds.push_back(x.name + " = " + printer::combine(x.how, d, x.name, t.total) + ";");
        x.name = t.total;
        break;
      }
    p_.simd(acc);
    p_.open("for (long " + v + " = " + from + "; " + v + " < " + to + "; ++" + v + ") {");
    print_tasks(tasks);
    p_.close();
    for (const std::string& s : adds) p_.line(s);
    p_.close();
  }
  int substitute(int e, std::size_t n) {
    arena::substitution s;
    for (int r : reductions_) s.exprs[r] = r;  // known by name
    for (const auto& [from, to] : replacements_[n])
      if (!(from == e && is_stored_now(e, n))) s.exprs[from] = to;
    return a_.substitute(e, s);
  }
  // A value is computed, not reloaded, in the pass that stores it.
  bool is_stored_now(int e, std::size_t n) const {
    for (const auto& [x, buffer] : scratch_[n])
      if (x == e) return true;
    for (std::size_t k : passes_[n].roots)
      if (w_.roots[k].value == e) return true;
    return false;
  }
  void print_tasks(const std::vector<task>& tasks) {
    for (const task& t : tasks) {
      const std::string v = p_.value(t.value);
      const dtype d = a_[t.value].type;
      if (t.buffer < 0) {
        p_.line(t.total + " = " + printer::combine(t.how, d, t.total, v) + ";");
        continue;
      }
      const std::string at = p_.address(t.element);
      if (t.add) {
        const std::string cell = p_.buffer(t.buffer) + "[" + at + "]";
        p_.line(p_.store_text(t.buffer, at, printer::combine(t.how, d, cell, v)));
      } else {
        p_.line(p_.store_text(t.buffer, at, v));
      }
    }
  }

  // --- blocks of rows ----------------------------------------------------------------------------
  void fill(int buffer, const std::string& v) {
    p_.simd({});
    p_.open("for (long j = 0; j < " + p_.dim_text(w_.space.columns) + "; ++j) {");
    p_.line(p_.store_text(buffer, "j", v));
    p_.close();
  }

  kernel_text blocks() {
    dim_table& dims = a_.dims();
    const std::string n = p_.stored_dim(w_.space.rows), nb = std::to_string(row_blocks);
    hoist_constants();
    struct level {
      std::size_t root;
      std::string total, inner;      // names, or
      int totals = -1, inners = -1;  // scratch arrays
    };
    std::vector<level> accs;
    p_.open("for (long block = a.begin; block < a.end; ++block) {");
    p_.line("const long step = (" + n + " + " + std::to_string(row_blocks - 1) + ") / " + nb + ";");
    p_.line("const long first = smaller(block * step, " + n + "), last = smaller(first + step, " +
            n + ");");
    for (std::size_t k = 0; k < w_.roots.size(); ++k) {
      const kernel_root& r = w_.roots[k];
      if (r.kind != root_kind::accumulate) continue;
      const dtype d = a_[r.value].type;
      level l{.root = k, .total = {}, .inner = {}};
      if (!r_is_column(r)) {
        l.total = p_.fresh("total");
        p_.variable(d, l.total, p_.initial(r.how, d));
      } else {
        l.totals = p_.scratch_array(d, w_.space.columns);
        l.inners = p_.scratch_array(d, w_.space.columns);
        fill(l.totals, p_.initial(r.how, d));
      }
      accs.push_back(l);
    }
    const std::string span =
        std::to_string(flat_ ? 8 * terms_per_accumulator : terms_per_accumulator);
    p_.open("for (long from = first; from < last; from += " + span + ") {");
    p_.line("const long to = smaller(from + " + span + ", last);");
    std::vector<printer::accumulator> flat_acc;
    for (level& l : accs) {
      const kernel_root& r = w_.roots[l.root];
      const dtype d = a_[r.value].type;
      if (l.totals < 0) {
        l.inner = p_.fresh("sum");
        p_.variable(d, l.inner, p_.initial(r.how, d));
        totals_[l.root] = l.inner;
        flat_acc.push_back({l.inner, r.how});
      } else {
        fill(l.inners, p_.initial(r.how, d));
        column_totals_[l.root] = l.inners;
      }
    }
    if (flat_) p_.simd(flat_acc);
    const std::string v = p_.var(w_.space.row_vars.empty() ? -1 : w_.space.row_vars[0]);
    p_.open("for (long " + v + " = from; " + v + " < to; ++" + v + ") {");
    row();
    p_.close();
    for (const level& l : accs) {
      const kernel_root& r = w_.roots[l.root];
      const dtype d = a_[r.value].type;
      if (l.totals < 0) {
        p_.line(l.total + " = " + printer::combine(r.how, d, l.total, l.inner) + ";");
      } else {
        p_.simd({});
        p_.open("for (long j = 0; j < " + p_.dim_text(w_.space.columns) + "; ++j) {");
        const std::string a = p_.buffer(l.totals) + "[j]", b = p_.buffer(l.inners) + "[j]";
        p_.line(p_.store_text(l.totals, "j", printer::combine(r.how, d, a, b)));
        p_.close();
      }
    }
    p_.close();
    for (const level& l : accs) {
      const kernel_root& r = w_.roots[l.root];
      if (l.totals < 0) {
        p_.line(p_.store_text(r.buffer, "block", l.total));
      } else {
        p_.simd({});
        p_.open("for (long j = 0; j < " + p_.dim_text(w_.space.columns) + "; ++j) {");
        p_.line(p_.store_text(r.buffer, "block * " + p_.dim_text(w_.space.columns) + " + j",
                              p_.buffer(l.totals) + "[j]"));
        p_.close();
      }
    }
    p_.close();
    return p_.finish(dims.of(row_blocks), 1);
  }
  // Reduced over rows only (the partial results have columns).
  bool r_is_column(const kernel_root& r) const { return r.element >= 0; }

  arena& a_;
  const buffer_table& types_;
  printer p_;
  kernel_work w_;
  std::uint64_t columns_ = 0, rows_ = 0;
  bool flat_ = false;
  std::vector<int> reductions_;
  std::unordered_map<int, int> level_;
  std::unordered_map<int, bool> dear_;
  std::vector<pass> passes_;
  std::vector<std::size_t> last_;
  std::vector<std::vector<std::pair<int, int>>> scratch_;  // per pass: expression, array
  std::vector<std::unordered_map<int, int>> replacements_;
  std::map<std::size_t, std::string> totals_;
  std::map<std::size_t, int> column_totals_;
};

}  // namespace

kernel_text emit_rows(arena& a, kernel_work work, const buffer_table& types) {
  return row_emitter(a, std::move(work), types).run();
}

}  // namespace ropewalk
