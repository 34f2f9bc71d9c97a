// Attention for one instruction set: one pass over key blocks with a running maximum; the passes
// back are in attention_backward.hpp. No pass writes what another task reads or writes, so the
// result does not depend on the number of threads.
#include "attention_backward.hpp"
#include "attention_few.hpp"

namespace ropewalk::ROPEWALK_KERNELS {
namespace {

template <class T>
void forward_block(const attention_plan<T>& p, T* room, long b, long h, long q_block, int worker) {
  const attention_args& a = p.a;
  const long row0 = q_block * query_block, rows = least(query_block, a.tq - row0);
  const long kv_head = b * a.kv_heads + h / p.group;
  layout at;
  T* const mine = p.worker(room, worker);
  T* const q = mine + at.take(query_block * a_stride);
  T* const s = mine + at.take(query_block * a_stride);
  T* const o = mine + at.take(query_block * p.dv);
  constexpr long padded_rows = (query_block + 15) / 16 * 16;
  T* const top = mine + at.take(padded_rows);     // running maximum
  T* const sum = mine + at.take(padded_rows);     // running Σ exp
  T* const shrink = mine + at.take(padded_rows);  // exp(maximum before − now)
  const head_options<T> options(a, b, h, mine + at.take(2 * (key_block + 64)), key_block);

  pack_queries(a, p.types.io, b, h, row0, rows, q);
  for (long i = 0; i < rows * p.dv; ++i) o[i] = 0;
  for (long i = 0; i < padded_rows; ++i) {
    top[i] = T(minus_infinity);
    sum[i] = 0;
    shrink[i] = 0;
  }
  const rows_view<T> v = view_of(a.v, p.copy_v, b, h / p.group, a.kv_heads, a.tk, p.dv, room + p.v);
  const interval blocks = p.blocks_seen(room, b, q_block);
  for (long kb = blocks.first; kb < blocks.last; ++kb) {
    const long index = kv_head * p.k_blocks + kb;
    const block_view w = p.view(room, b, q_block, kb);
    visible_product(w, a.dk, q, room + p.kt + index * p.k_panels, s);
    if (!p.plain)
      for (long i = 0; i < rows; ++i)
        if (w.first[i] < w.last[i])
          final_scores(options.bias_row(row0 + i, kb * key_block, w.first[i], w.last[i]),
                       s + i * a_stride, w.first[i], w.last[i]);
    // With constant bounds where all of a block is seen: most blocks.
    const bool whole = w.whole && !(a.dropout > 0), later = kb > blocks.first;
    for (long i = 0; i < rows; ++i) {
      const T* const row = s + i * a_stride;
      const T now = whole ? row_maximum<T, true>(row, 0, key_block, top[i])
                          : row_maximum<T, false>(row, w.first[i], w.last[i], top[i]);
      shrink[i] = now == T(minus_infinity) ? T(0) : top[i] - now;
      top[i] = now;
    }
    if (later)
      for (long i = 0; i < padded_rows; i += lanes<T>) store(shrink + i, exp<T>(load(shrink + i)));
    for (long t = 0; t < w.tiles.count; ++t) {
      for (long i = w.tiles.first(t); i < w.tiles.end(t); ++i) {
        const T maximum = top[i] == T(minus_infinity) ? T(0) : top[i];
        T* const row = s + i * a_stride;
        const T now =
            whole ? whole_probabilities(row, key_block, maximum)
                  : probabilities(
                        row, w.first[i], w.last[i], w.tile_first[t], w.tile_last[t], maximum,
                        options.keep_row(row0 + i, kb * key_block, w.first[i], w.last[i]));
        sum[i] = later ? sum[i] * shrink[i] + now : now;
        if (later && shrink[i] != T(1)) scale_row(o + i * p.dv, p.dv, shrink[i], o + i * p.dv);
      }
    }
    product_of_seen<T>(w, s, {v.at(kb * key_block), v.row}, p.dv, room[p.bad_v + index] != T(0), o);
  }
  char* out = row_at(a.out, p.types.io, b, h, row0);
  const long out_row = a.out.row * element_size(p.types.io);
  T* lse = reinterpret_cast<T*>(row_at(a.lse, dtype_of<T>, b, h, row0));
  for (long i = 0; i < rows; ++i, out += out_row, lse += a.lse.row) {
    const row_end<T> end = finish_row(a, h, top[i], sum[i]);
    put_row(o + i * p.dv, a.dv, end.by, out, p.types.io);
    *lse = end.lse;
  }
}

template <class T>
std::size_t forward_room(int threads, dtype type, const attention_args& a) {
  if (few_rows(a)) return few_plan<T>(threads, type, a).bytes();
  return attention_plan<T>(threads, type, a, false).bytes();
}

template <class T>
void forward(pool& threads, dtype type, const attention_args& a, std::byte* workspace) {
  if (few_rows(a)) return forward_few<T>(threads, type, a, workspace);
  const attention_plan<T> p(threads.threads(), type, a, false);
  T* room = reinterpret_cast<T*>(workspace);
  p.find_rows(room);
  threads.run(a.batch * a.kv_heads * p.k_blocks,
              [&](long i, int worker) { pack_keys(p, room, i, worker); });
  // The last blocks of causal heads are the longest: first.
  const long heads = a.batch * a.heads;
  threads.run(heads * p.q_blocks, [&](long i, int worker) {
    const long bh = i % heads;
    forward_block(p, room, bh / a.heads, bh % a.heads, p.q_blocks - 1 - i / heads, worker);
  });
}

}  // namespace

extern const attention_entry attention_f32 = {forward_room<float>, backward_room_bytes<float>,
                                              forward<float>, backward<float>};
extern const attention_entry attention_f64 = {forward_room<double>, backward_room_bytes<double>,
                                              forward<double>, backward<double>};

}  // namespace ropewalk::ROPEWALK_KERNELS
