// The memory plan: lifetimes and placement.
#include <algorithm>
#include <numeric>

#include <ropewalk/graph/bindings.hpp>
#include <ropewalk/graph/plan.hpp>

namespace ropewalk {
namespace {

std::size_t rounded(std::size_t bytes) {
  return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

// Places the blocks one after the other: each into the smallest gap that fits between the placed
// blocks that live at the same time, else above them.
std::size_t place_in_order(std::span<const arena_block> blocks, const std::vector<int>& order,
                           std::vector<std::size_t>& offset) {
  std::vector<int> placed;  // by offset
  std::size_t end = 0;
  for (const int id : order) {
    const arena_block& b = blocks[static_cast<std::size_t>(id)];
    const std::size_t bytes = rounded(b.bytes);
    std::size_t best = 0, best_gap = SIZE_MAX, free_from = 0;
    for (const int p : placed) {
      const auto k = static_cast<std::size_t>(p);
      if (blocks[k].last < b.first || blocks[k].first > b.last) continue;
      if (offset[k] > free_from)
        if (const std::size_t gap = offset[k] - free_from; gap >= bytes && gap < best_gap)
          best = free_from, best_gap = gap;
      free_from = std::max(free_from, offset[k] + rounded(blocks[k].bytes));
    }
    const std::size_t at = best_gap == SIZE_MAX ? free_from : best;
    offset[static_cast<std::size_t>(id)] = at;
    end = std::max(end, at + bytes);
    const auto before = std::upper_bound(
        placed.begin(), placed.end(), at,
        [&](std::size_t o, int p) { return o < offset[static_cast<std::size_t>(p)]; });
    placed.insert(before, id);
  }
  return end;
}

// Collects what the steps do with the buffers.
class planner {
 public:
  planner(const schedule& s, std::span<const dim_binding> bindings) : s_(s), bindings_(bindings) {
    for (const buffer& b : s.buffers) p_.elements.push_back(evaluate_size(b.elements, bindings));
    p_.buffer_block.assign(s.buffers.size(), -1);
    p_.workspace_block.assign(s.steps.size(), -1);
  }

  plan run(std::span<const std::size_t> workspace) {
    for (std::size_t b = 0; b < s_.buffers.size(); ++b)
      if (s_.buffers[b].kind != buffer_kind::temporary) p_.leaf_bytes += rounded(bytes(b));
    for (std::size_t k = 0; k < s_.steps.size(); ++k) {
      step_ = static_cast<int>(k);
      const step& x = s_.steps[k];
      if (x.what == step::kind::generated)
        generated(x);
      else
        kernel(x);
      if (workspace[k] > 0) {
        p_.workspace_block[k] = static_cast<int>(p_.blocks.size());
        p_.blocks.push_back({workspace[k], step_, step_});
      }
    }
    step_ = static_cast<int>(s_.steps.size());
    for (const schedule::result& r : s_.outputs) view_of("output " + r.name, r.where, false);
    p_.live_bytes = largest_live_set(p_.blocks);
    p_.arena_bytes = place(p_.blocks);
    return std::move(p_);
  }

 private:
  std::size_t bytes(std::size_t b) const {
    return static_cast<std::size_t>(p_.elements[b]) * dtype_size(s_.buffers[b].type);
  }
  std::string where() const { return "plan: step " + std::to_string(step_); }

  void generated(const step& x) {
    for (const int b : x.buffers)
      if (std::find(x.writes.begin(), x.writes.end(), b) == x.writes.end()) touch(b, false);
    for (const int b : x.writes) {
      if (std::find(x.buffers.begin(), x.buffers.end(), b) == x.buffers.end())
        throw error(where(), "write of buffer", std::to_string(b), "is not among its operands");
      touch(b, true);
    }
  }
  void kernel(const step& x) {
    const std::string of = std::string(" of ") + x.op->name;
    for (std::size_t k = 0; k < x.in.size(); ++k)
      view_of("input " + std::to_string(k) + of, x.in[k], false);
    for (std::size_t k = 0; k < x.out.size(); ++k)
      if (x.out[k].buffer >= 0) view_of("result " + std::to_string(k) + of, x.out[k], true);
  }

  void view_of(const std::string& what, const view& v, bool write) {
    touch(v.buffer, write);
    std::int64_t low = evaluate(v.offset, bindings_), high = low;
    for (int a = 0; a < v.rank; ++a) {
      const std::int64_t reach =
          (evaluate_size(v.extent[a], bindings_) - 1) * evaluate(v.stride[a], bindings_);
      (reach < 0 ? low : high) += reach;
    }
    const std::int64_t n = p_.elements[static_cast<std::size_t>(v.buffer)];
    if (low < 0 || high >= n)
      throw error(where(), what, "elements " + std::to_string(low) + " to " + std::to_string(high),
                  "buffer " + std::to_string(v.buffer) + " has " + std::to_string(n));
  }

  void touch(int b, bool write) {
    if (b < 0 || b >= static_cast<int>(s_.buffers.size()))
      throw error(where(), "buffer", std::to_string(b), "is not in the schedule");
    const auto k = static_cast<std::size_t>(b);
    if (s_.buffers[k].kind != buffer_kind::temporary) {
      if (write && s_.buffers[k].kind == buffer_kind::input)
        throw error(where(), "write of buffer", std::to_string(b),
                    "is the input " + s_.buffers[k].path);
      return;
    }
    int& block = p_.buffer_block[k];
    if (block < 0) {
      if (!write)
        throw error(where(), "buffer", std::to_string(b), "is read before any step writes it");
      block = static_cast<int>(p_.blocks.size());
      p_.blocks.push_back({bytes(k), step_, step_});
    }
    p_.blocks[static_cast<std::size_t>(block)].last = step_;
  }

  const schedule& s_;
  std::span<const dim_binding> bindings_;
  plan p_;
  int step_ = 0;
};

}  // namespace

std::size_t place(std::span<arena_block> blocks) {
  std::vector<int> by_size(blocks.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::vector<int> by_time = by_size;
  const auto at = [&](int k) -> const arena_block& { return blocks[static_cast<std::size_t>(k)]; };
  std::sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    return at(a).bytes != at(b).bytes ? at(a).bytes > at(b).bytes : a < b;
  });
  std::sort(by_time.begin(), by_time.end(), [&](int a, int b) {
    if (at(a).first != at(b).first) return at(a).first < at(b).first;
    return at(a).bytes != at(b).bytes ? at(a).bytes > at(b).bytes : a < b;
  });
  std::vector<std::size_t> sized(blocks.size()), timed(blocks.size());
  const std::size_t a = place_in_order(blocks, by_size, sized);
  const std::size_t b = place_in_order(blocks, by_time, timed);
  for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k].offset = a <= b ? sized[k] : timed[k];
  return std::min(a, b);
}

std::size_t largest_live_set(std::span<const arena_block> blocks) {
  int steps = 0;
  for (const arena_block& b : blocks) steps = std::max(steps, b.last + 1);
  std::vector<std::size_t> begun(static_cast<std::size_t>(steps) + 1), ended(begun);
  for (const arena_block& b : blocks) {
    begun[static_cast<std::size_t>(b.first)] += rounded(b.bytes);
    ended[static_cast<std::size_t>(b.last) + 1] += rounded(b.bytes);
  }
  std::size_t live = 0, most = 0;
  for (std::size_t k = 0; k < begun.size(); ++k) {
    live = live + begun[k] - ended[k];
    most = std::max(most, live);
  }
  return most;
}

plan make_plan(const schedule& s, std::span<const dim_binding> bindings,
               std::span<const std::size_t> workspace) {
  if (workspace.size() != s.steps.size())
    throw error("plan", "workspace", std::to_string(workspace.size()) + " sizes",
                "one for each of the " + std::to_string(s.steps.size()) + " steps");
  return planner(s, bindings).run(workspace);
}

std::string print(const plan& p, const schedule& s) {
  std::string r = "plan: offset bytes steps what\n";
  const auto line = [&](const arena_block& b, const std::string& what) {
    r += std::to_string(b.offset) + " " + std::to_string(b.bytes) + " " + std::to_string(b.first) +
         "-" + std::to_string(b.last) + " " + what + "\n";
  };
  for (std::size_t b = 0; b < s.buffers.size(); ++b)
    if (const int k = p.buffer_block[b]; k >= 0)
      line(p.blocks[static_cast<std::size_t>(k)],
           "buffer " + std::to_string(b) + " " + dtype_name(s.buffers[b].type) + "[" +
               std::to_string(p.elements[b]) + "] of %" + std::to_string(s.buffers[b].node));
  for (std::size_t k = 0; k < s.steps.size(); ++k)
    if (const int b = p.workspace_block[k]; b >= 0)
      line(p.blocks[static_cast<std::size_t>(b)], "workspace");
  r += "arena " + std::to_string(p.arena_bytes) + " bytes, largest live set " +
       std::to_string(p.live_bytes) + ", leaves " + std::to_string(p.leaf_bytes) + "\n";
  return r;
}

}  // namespace ropewalk
