// Lowered groups by what they compute: the layers of a model share them.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../cpu/lowering_group.hpp"

namespace ropewalk {

// Kernels whose operands are slots; a slot is a node of the group's own numbering, or a temporary.
struct shared_group {
  struct slot {
    int node = -1;  // number in group_use::nodes
    bool temporary = false;
    dtype type = dtype::f32;
    int elements = -1;  // dim, of a temporary
  };
  struct kernel {
    lowered_kernel work;
    std::vector<int> reads, writes;                 // slots
    std::map<std::vector<int>, kernel_text> texts;  // by which slots are the same buffer
  };
  std::vector<slot> slots;
  std::vector<kernel> kernels;  // the first, then the second stages
};

struct group_use {
  std::shared_ptr<shared_group> group;
  std::vector<int> nodes;  // graph nodes, in the group's numbering
};

class group_cache {
 public:
  group_cache(const graph& g, const std::vector<char>& stored, dim_table& dims)
      : g_(g), stored_(stored), dims_(dims) {}
  group_use of(const kernel_group& q);

 private:
  const graph& g_;
  const std::vector<char>& stored_;
  dim_table& dims_;
  std::map<std::string, std::shared_ptr<shared_group>> known_;
};

// A kernel outside of any group, of two slots.
std::shared_ptr<shared_group> shared_copy(dim_table& dims, int elements, dtype from, dtype to);

// The text of kernel k where slot s is buffer same_as[s] (a slot number).
const kernel_text& text_of(shared_group& g, std::size_t k, const std::vector<int>& same_as);

}  // namespace ropewalk
