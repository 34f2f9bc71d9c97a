// The matrix product for one instruction set: packed panels, register tiles, fixed blocks of c.
//
// c is cut into m_parts × n_parts blocks (about 64 × 384 in f32), each one task; the cut depends on
// the shape alone. Within a block, k goes in steps of at most k_block: the rows of a are packed,
// and every panel of b (tile_columns wide) meets every tile of rows.
//   shared   b is packed once, by all threads, for a chunk of columns and k; then blocks run
//   private  each block packs the panel it is about to use (or reads b in place, for up to 8 rows):
//            one row of blocks (fewer than 96 rows; 32 rows: 57 % of peak, shared 40 %), small
//            batch items
//   dot      at most 16 rows and b contiguous along k (x · wᵀ for few tokens): nothing is packed
#include "dot.hpp"
#include "pack.hpp"
#include "table.hpp"

namespace ropewalk::ROPEWALK_KERNELS {
namespace {

enum class way { shared, private_panels, dot };

struct gemm_plan {
  way how;
  long items;             // batch items
  long k_step;            // k of one packed block
  long panels;            // of tile_columns, over n
  long m_parts, n_parts;  // blocks of c
  long chunk_panels;      // shared: panels of one chunk
  long chunk_k;           // shared: k of one chunk, a multiple of k_step
  bool share_a;           // shared: the chunk's part of a is packed once, too
};

// a contiguous along its rows' index: packed k-major.
bool transposed(const gemm_args& g) { return g.a_row == 1 && g.a_col != 1; }

template <class T>
gemm_plan plan_for(const gemm_args& g) {
  constexpr long width = tile_columns<T>;
  gemm_plan p{};
  p.items = 1;
  for (long d = 0; d < g.batch_dims; ++d) p.items *= g.batch_extent[d];
  // As few steps as possible, of equal length: 384 gives 90 % of peak where 256 gives 88 %; 256 for
  // a transposed a, whose packed tiles are wider (78 and 77 %). 16: transposes take whole squares.
  const long longest = transposed(g) ? 256 : k_block;
  const long steps = greatest(1l, ceil_div(g.k, longest));
  p.k_step = greatest(16l, round_up(ceil_div(g.k, steps), 16l));
  p.panels = greatest(1l, ceil_div(g.n, width));
  p.m_parts = greatest(1l, (g.m + 32) / 64);
  p.n_parts = ceil_div(p.panels, 12);
  if (g.m <= 16 && g.b_row == 1 && g.b_col != 1 && g.a_col == 1) {
    p.how = way::dot;
    p.m_parts = 1;
    p.n_parts = greatest(1l, ceil_div(g.n, 32));
    return p;
  }
  // Enough blocks for many threads, unless they would become small.
  while (p.m_parts * p.n_parts * p.items < 8 && ceil_div(p.panels, p.n_parts) > 4) ++p.n_parts;
  const double work = 2.0 * double(g.m) * double(g.n) * double(g.k);
  // One row of blocks uses each panel once: packed right before, it is still in the first cache.
  p.how = p.m_parts > 1 && (p.items == 1 || work > 3e7) ? way::shared : way::private_panels;
  constexpr long chunk_bytes = 16l << 20;
  p.chunk_k = least(16 * p.k_step, round_up(greatest(g.k, 1l), p.k_step));
  p.chunk_panels = greatest(12l, chunk_bytes / (p.chunk_k * width * static_cast<long>(sizeof(T))));
  p.chunk_panels = least(p.chunk_panels, p.panels);
  // A transposed a that several blocks would each pack again: 76 % of peak for 384 × 1536,
  // k = 1024, where packing per block gives 71 %.
  p.share_a = p.how == way::shared && transposed(g) && p.n_parts > 1 &&
              g.m * p.chunk_k * static_cast<long>(sizeof(T)) <= chunk_bytes;
  return p;
}

// Per worker: a block of packed rows, one panel of b, one tile of c.
template <class T>
long rows_room(const gemm_args& g, const gemm_plan& p) {
  const long rows = ceil_div(g.m, p.m_parts);
  const long k_major = (ceil_div(rows, tile_rows) + 1) * p.k_step * k_major_stride;
  return round_up(greatest(rows * a_stride, k_major), 64) + 64;
}
template <class T>
long worker_room(const gemm_args& g, const gemm_plan& p) {
  return rows_room<T>(g, p) + (p.k_step + tile_rows + 1) * tile_columns<T>;
}
template <class T>
long shared_b_room(const gemm_plan& p) {
  return p.how == way::shared ? p.chunk_panels * p.chunk_k * tile_columns<T> : 0;
}
template <class T>
long shared_room(const gemm_args& g, const gemm_plan& p) {
  return shared_b_room<T>(p) +
         (p.share_a ? p.m_parts * ceil_div(p.chunk_k, p.k_step) * rows_room<T>(g, p) : 0);
}

// With k = 0 nothing is read from a and b, which may be null: no stride leads away from them.
gemm_args with_operands(gemm_args g) {
  if (g.k > 0) return g;
  g.a = g.b = g.c;
  g.a_row = g.a_col = g.b_row = g.b_col = 0;
  for (long d = 0; d < 4; ++d) g.a_batch[d] = g.b_batch[d] = 0;
  return g;
}

template <class T>
std::size_t gemm_room(int threads, const gemm_args& given) {
  const gemm_args g = with_operands(given);
  const gemm_plan p = plan_for<T>(g);
  if (p.how == way::dot || g.m == 0 || g.n == 0 || p.items == 0) return 0;
  return sizeof(T) *
         static_cast<std::size_t>(shared_room<T>(g, p) + threads * worker_room<T>(g, p));
}

template <class T>
struct item_of {
  long index;
  const T* a;
  const T* b;
  T* c;
};

template <class T>
item_of<T> item_at(const gemm_args& g, long index) {
  item_of<T> it{index, static_cast<const T*>(g.a), static_cast<const T*>(g.b),
                static_cast<T*>(g.c)};
  for (long d = g.batch_dims - 1, rest = index; d >= 0; --d) {
    const long at = rest % g.batch_extent[d];
    rest /= g.batch_extent[d];
    it.a += at * g.a_batch[d];
    it.b += at * g.b_batch[d];
    it.c += at * g.c_batch[d];
  }
  return it;
}

// The part of a product that one task works on.
struct block {
  long part;              // of m_parts
  long row, row_end;      // of c
  long panel, panel_end;  // of all panels of n
  long k, k_end;
};

template <class T>
struct gemm_run {
  static constexpr long width = tile_columns<T>;
  const gemm_args& g;
  const gemm_plan& p;
  T* shared;  // [panel of the chunk][k of the chunk][width], then the chunk's part of a
  T* workers;

  long chunk_panel = 0, chunk_k = 0, chunk_k_end = 0;  // the chunk packed in `shared`

  T* rows_of(int worker) const { return workers + worker * worker_room<T>(g, p); }

  T* shared_a(long part, long k) const {
    return shared + shared_b_room<T>(p) +
           ((k - chunk_k) / p.k_step * p.m_parts + part) * rows_room<T>(g, p);
  }

  // Packs rows [row, end) × k [k0, k1) of a.
  void pack_a(const T* a, long row, long end, long k0, long k1, T* to) const {
    if (!transposed(g)) {
      pack_rows(a + row * g.a_row + k0 * g.a_col, g.a_row, g.a_col, end - row, k1 - k0, to);
      return;
    }
    pack_k_major(a + row + k0 * g.a_col, g.a_col, end - row, g.m - row, k1 - k0, to,
                 p.k_step * k_major_stride);
  }

  // The panel's k [k0, k1) as tiles read it: shared, in place, or packed into `room`.
  const T* panel_at(const T* b, long panel, long k0, long k1, T* room, long& ldb) const {
    ldb = width;
    if (p.how == way::shared)
      return shared + ((panel - chunk_panel) * (chunk_k_end - chunk_k) + k0 - chunk_k) * width;
    const T* from = b + k0 * g.b_row + panel * width * g.b_col;
    const long columns = least(width, g.n - panel * width);
    if (columns == width && g.b_col == 1 && g.m <= 8) {
      ldb = g.b_row;
      return from;
    }
    pack_panel(from, g.b_row, g.b_col, k1 - k0, columns, room);
    return room;
  }

  void run_block(const item_of<T>& it, const block& w, int worker) const {
    T* rows = rows_of(worker);
    T* const room = rows + rows_room<T>(g, p);
    T* const edge = room + p.k_step * width;
    const long height = w.row_end - w.row;
    const row_tiles tiles = tiles_of_rows(height);
    const long lda = k_major_stride, tile_room = p.k_step * k_major_stride;
    const bool by_k = transposed(g);
    for (long k0 = w.k;; k0 += p.k_step) {
      const long k1 = least(k0 + p.k_step, w.k_end);
      const bool add = g.accumulate || k0 > 0;
      const bool last = k1 >= g.k;
      if (p.share_a)
        rows = shared_a(w.part, k0);
      else
        pack_a(it.a, w.row, w.row_end, k0, k1, rows);
      long done = w.panel;
      for (long panel = w.panel; panel < w.panel_end; ++panel) {
        long ldb;
        const T* b = panel_at(it.b, panel, k0, k1, room, ldb);
        const long column = panel * width, columns = least(width, g.n - column);
        const long vectors = columns <= lanes<T> ? 1 : tile_vectors;
        const bool whole = columns == vectors * lanes<T>;
        for (long t = 0; t < tiles.count; ++t) {
          const long first = tiles.first(t), count = tiles.end(t) - first;
          const T* a = by_k ? rows + t * tile_room : rows + first * a_stride;
          T* c = it.c + (w.row + first) * g.c_row + column;
          const auto f = tile_for<T>(count, vectors, by_k);
          if (whole) {
            f(k1 - k0, a, lda, b, ldb, c, g.c_row, add);
          } else {
            f(k1 - k0, a, lda, b, ldb, edge, width, false);
            for (long i = 0; i < count; ++i)
              for (long j = 0; j < columns; ++j) {
                T& at = c[i * g.c_row + j];
                at = add ? at + edge[i * width + j] : edge[i * width + j];
              }
          }
        }
        // Four panels (128 columns) at a time: long enough rows for the epilogue, still in cache.
        if (last && g.epilogue && (panel + 1 - done == 4 || panel + 1 == w.panel_end)) {
          const long from = done * width;
          g.epilogue(g.epilogue_context, it.index, w.row, height, from,
                     least((panel + 1) * width, g.n) - from, it.c + w.row * g.c_row + from,
                     g.c_row);
          done = panel + 1;
        }
      }
      if (k1 >= w.k_end) break;
    }
  }

  // Packs the chunk. A task takes 8 panels × k_step, so that rows of b are read 1 KB at a time.
  void pack_shared(pool& threads, const T* b, long panels) const {
    constexpr long group = 8;
    const long groups = ceil_div(panels, group), length = chunk_k_end - chunk_k;
    threads.run(groups * ceil_div(length, p.k_step), [&](long i, int) {
      const long first = i % groups * group, last = least(first + group, panels);
      const long k0 = i / groups * p.k_step, k1 = least(k0 + p.k_step, length);
      // Along n: all panels of a few rows, then the next rows; along k: a panel at a time.
      const long step = g.b_col == 1 ? 8 : k1 - k0;
      for (long k = k0; k < k1; k += step)
        for (long j = first; j < last; ++j)
          pack_panel(b + (chunk_k + k) * g.b_row + (chunk_panel + j) * width * g.b_col, g.b_row,
                     g.b_col, least(step, k1 - k), least(width, g.n - (chunk_panel + j) * width),
                     shared + (j * length + k) * width);
    });
  }

  void run_shared(pool& threads, const item_of<T>& it, bool packed) {
    for (chunk_panel = 0; chunk_panel < p.panels; chunk_panel += p.chunk_panels)
      for (chunk_k = 0;; chunk_k += p.chunk_k) {
        const long panels = least(p.chunk_panels, p.panels - chunk_panel);
        chunk_k_end = least(g.k, chunk_k + p.chunk_k);
        if (!packed) pack_shared(threads, it.b, panels);
        // A later chunk of columns finds a as it was, if k is all one chunk.
        if (p.share_a && (chunk_panel == 0 || p.chunk_k < g.k))
          threads.run(p.m_parts * ceil_div(chunk_k_end - chunk_k, p.k_step), [&](long i, int) {
            const long mi = i % p.m_parts, k0 = chunk_k + i / p.m_parts * p.k_step;
            pack_a(it.a, cut(g.m, p.m_parts, mi), cut(g.m, p.m_parts, mi + 1), k0,
                   least(k0 + p.k_step, chunk_k_end), shared_a(mi, k0));
          });
        const long n_parts = least(panels, ceil_div(p.n_parts * panels, p.panels));
        threads.run(n_parts * p.m_parts, [&](long i, int worker) {
          const long ni = i / p.m_parts, mi = i % p.m_parts;
          run_block(it,
                    {mi, cut(g.m, p.m_parts, mi), cut(g.m, p.m_parts, mi + 1),
                     chunk_panel + cut(panels, n_parts, ni),
                     chunk_panel + cut(panels, n_parts, ni + 1), chunk_k, chunk_k_end},
                    worker);
        });
        if (chunk_k_end >= g.k) break;
      }
  }

  void run(pool& threads) {
    if (p.how == way::shared) {
      const bool one_chunk = p.chunk_panels >= p.panels && p.chunk_k >= g.k;
      const T* before = nullptr;
      for (long i = 0; i < p.items; ++i) {
        const item_of<T> it = item_at<T>(g, i);
        run_shared(threads, it, one_chunk && it.b == before);
        before = it.b;
      }
      return;
    }
    const long blocks = p.m_parts * p.n_parts;
    threads.run(p.items * blocks, [&](long i, int worker) {
      const item_of<T> it = item_at<T>(g, i / blocks);
      const long ni = i % blocks / p.m_parts, mi = i % blocks % p.m_parts;
      const long row = cut(g.m, p.m_parts, mi), row_end = cut(g.m, p.m_parts, mi + 1);
      if (p.how == way::private_panels) {
        run_block(it,
                  {mi, row, row_end, cut(p.panels, p.n_parts, ni), cut(p.panels, p.n_parts, ni + 1),
                   0, g.k},
                  worker);
        return;
      }
      const long column = cut(g.n, p.n_parts, ni), end = cut(g.n, p.n_parts, ni + 1);
      T* c = it.c + column;
      dot_rows(g.m, end - column, g.k, it.a, g.a_row, it.b + column * g.b_col, g.b_col, c, g.c_row,
               g.accumulate);
      if (g.epilogue)
        g.epilogue(g.epilogue_context, it.index, 0, g.m, column, end - column, c, g.c_row);
    });
  }
};

template <class T>
void gemm_entry_run(pool& threads, const gemm_args& given, std::byte* workspace) {
  const gemm_args g = with_operands(given);
  if (g.m == 0 || g.n == 0) return;
  const gemm_plan p = plan_for<T>(g);
  if (p.items == 0) return;
  T* room = reinterpret_cast<T*>(workspace);
  gemm_run<T>{g, p, room, room + shared_room<T>(g, p)}.run(threads);
}

}  // namespace

extern const gemm_entry gemm_f32 = {gemm_room<float>, gemm_entry_run<float>};
extern const gemm_entry gemm_f64 = {gemm_room<double>, gemm_entry_run<double>};

}  // namespace ropewalk::ROPEWALK_KERNELS
