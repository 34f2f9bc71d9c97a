// What attention refuses, each with the field, its value and the rule. Sizes and options are
// checked before a workspace is sized, when there are no pointers yet; pointers and what they hold
// before a kernel runs.
#pragma once
#include <cstdio>
#include <string>
#include <utility>

#include <ropewalk/core/error.hpp>
#include <ropewalk/runtime/cpu_kernels.hpp>

namespace ropewalk::attention_checks {

inline void require(bool holds, const char* field, const std::string& value, const char* rule) {
  if (!holds) throw error("attention", field, value, rule);
}
inline void at_least(const char* field, long value, long least) {
  if (value < least)
    throw error("attention", field, std::to_string(value),
                "must be at least " + std::to_string(least));
}
inline void at_most(const char* field, long value, long most) {
  if (value > most)
    throw error("attention", field, std::to_string(value),
                "must be at most " + std::to_string(most));
}
inline std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

inline void check_types(dtype type, const attention_args& a) {
  require(is_floating(type), "dtype", dtype_name(type), "q must be f64, f32, f16 or bf16");
  if (a.kv_type == boolean) return;
  if (type == f64)
    require(a.kv_type == f64 || a.kv_type == f32, "kv_type", dtype_name(a.kv_type),
            "must be f64 or f32 where q is f64");
  else
    require(is_floating(a.kv_type) && a.kv_type != f64, "kv_type", dtype_name(a.kv_type),
            "must be f32, f16 or bf16 where q is not f64");
}

inline void check_sizes(dtype type, const attention_args& a) {
  check_types(type, a);
  at_least("batch", a.batch, 0);
  at_least("kv_heads", a.kv_heads, 1);
  at_least("heads", a.heads, 0);
  for (const auto& [field, size] : {std::pair{"tq", a.tq}, std::pair{"tk", a.tk}}) {
    at_least(field, size, 0);
    at_most(field, size, 1l << 30);
  }
  for (const auto& [field, size] : {std::pair{"dk", a.dk}, std::pair{"dv", a.dv}}) {
    at_least(field, size, 1);
    at_most(field, size, 256);
  }
  if (a.heads % a.kv_heads != 0)
    throw error("attention", "heads", std::to_string(a.heads),
                "must be a multiple of kv_heads, " + std::to_string(a.kv_heads));
  require(a.scale - a.scale == 0, "scale", number(a.scale), "must be finite");
  require(a.soft_cap == 0 || (a.soft_cap >= 1e-30 && a.soft_cap <= 1e30), "soft_cap",
          number(a.soft_cap), "must be 0 (none), or from 1e-30 to 1e30");
  require(a.dropout >= 0 && a.dropout < 1, "dropout", number(a.dropout),
          "must be at least 0 and below 1");
  at_least("window", a.window, 0);
  at_least("document_count", a.document_count, 0);
  at_least("rope.width", a.rope.width, 0);
  require(a.rope.width % 2 == 0, "rope.width", std::to_string(a.rope.width), "must be even");
  at_least("rope.offset", a.rope.offset, 0);
  at_most("rope.offset + width", a.rope.offset + a.rope.width, a.dk);
}

// The values that a 32-bit list holds for the batch items, from `least` to `most`.
inline void check_list(const char* field, const std::int32_t* list, long stride, long batch,
                       long least, long most) {
  for (long b = 0; list != nullptr && b < batch; ++b) {
    const long value = list[b * stride];
    if (value < least || value > most)
      throw error("attention", field + ("[" + std::to_string(b) + "]"), std::to_string(value),
                  "must be from " + std::to_string(least) + " to " + std::to_string(most));
  }
}

inline void check_options(dtype type, const attention_args& a) {
  const dtype computed = type == f64 ? f64 : f32;
  check_list("lengths", a.lengths, a.lengths_stride, a.batch, 0, a.tk);
  if (a.start != nullptr) {
    at_most("tq", a.tq, a.tk);  // there are keys at the positions of all rows
    check_list("start", a.start, a.start_stride, a.batch, 0, a.tk - a.tq);
  }
  if (a.mask.data != nullptr) {
    const dtype t = a.mask.type;
    require(t == f32 || t == f16 || t == bf16 || (t == f64 && computed == f64), "mask.type",
            dtype_name(t), "must be f32, f16, bf16, or f64 where q is f64");
    require(!a.distance_bias, "distance_bias", "true", "is a mask of its own: give one of both");
  }
  require(a.dropout == 0 || a.tq == 0 || a.batch * a.heads <= (1l << 32) / a.tq, "batch * heads",
          std::to_string(a.batch * a.heads), "times tq must be at most 2^32 with dropout");
  if (a.rope.width == 0) {
    require(a.rope.cosine == nullptr, "rope.width", "0", "must not be 0 where tables are given");
  } else {
    require(a.rope.cosine != nullptr, "rope.cosine", "null", "must be given with a width");
    require(a.rope.sine != nullptr, "rope.sine", "null", "must be given with a width");
    if (a.start == nullptr) at_most("tq", a.tq, a.tk);  // no position is negative
  }
}

inline void check_pointers(const attention_args& a, bool backward) {
  const auto given = [](const char* field, const void* data, bool needed) {
    require(data != nullptr || !needed, field, "null", "must be given");
  };
  const bool rows = a.batch * a.heads * a.tq > 0, keys = a.batch * a.kv_heads * a.tk > 0;
  given("q", a.q.data, rows);
  given("k", a.k.data, keys);
  given("v", a.v.data, keys);
  given("out", a.out.data, rows);
  given("lse", a.lse.data, rows);
  if (!backward) return;
  given("d_out", a.d_out.data, rows);
  given("d_q", a.d_q.data, rows);
  given("d_k", a.d_k.data, keys);
  given("d_v", a.d_v.data, keys);
}

inline void check_gradients(dtype type, const attention_args& a) {
  const dtype computed = type == f64 ? f64 : f32;
  if (a.d_mask.data != nullptr) {
    require(a.mask.data != nullptr, "mask", "null", "must be given where d_mask is asked for");
    require(a.d_mask.type == computed, "d_mask.type", dtype_name(a.d_mask.type),
            "must be the type computed in");
  }
  require(a.d_sinks == nullptr || a.sinks != nullptr, "sinks", "null",
          "must be given where d_sinks are asked for");
}

}  // namespace ropewalk::attention_checks
