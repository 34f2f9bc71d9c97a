// A shape as options of an op: rank in i[0], dims in d.
#pragma once
#include "ropewalk/graph/op.hpp"

namespace ropewalk::op {

constexpr attrs attrs_of(const shape& s) {
  attrs a;
  a.i[0] = s.rank;
  for (int i = 0; i < s.rank; ++i) a.d[i] = s.d[i];
  return a;
}
constexpr shape shape_in(const attrs& a) {
  shape s;
  for (int i = 0; i < a.i[0]; ++i) s.push(a.d[i]);
  return s;
}

}  // namespace ropewalk::op
