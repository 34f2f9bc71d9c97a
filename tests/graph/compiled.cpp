// Compiles and runs schedules.
#include "compiled.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include <ropewalk/runtime/cpu_kernels.hpp>
#include <ropewalk/runtime/registry.hpp>

#define ROPEWALK_ISA_NAMESPACE test_math
#include <ropewalk/runtime/vecmath.hpp>
#undef ROPEWALK_ISA_NAMESPACE

namespace ropewalk::test {
namespace {

double get(const std::byte* p, dtype d, std::size_t k) {
  switch (d) {
    case dtype::f64:
      return reinterpret_cast<const double*>(p)[k];
    case dtype::f32:
      return static_cast<double>(reinterpret_cast<const float*>(p)[k]);
    case dtype::i32:
      return reinterpret_cast<const std::int32_t*>(p)[k];
    case dtype::f16:
      return static_cast<double>(test_math::from_f16(reinterpret_cast<const std::uint16_t*>(p)[k]));
    case dtype::bf16:
      return static_cast<double>(
          test_math::from_bf16(reinterpret_cast<const std::uint16_t*>(p)[k]));
    default:
      return static_cast<double>(reinterpret_cast<const std::uint8_t*>(p)[k]);
  }
}
void put(std::byte* p, dtype d, std::size_t k, double v) {
  switch (d) {
    case dtype::f64:
      reinterpret_cast<double*>(p)[k] = v;
      break;
    case dtype::f32:
      reinterpret_cast<float*>(p)[k] = static_cast<float>(v);
      break;
    case dtype::i32:
      reinterpret_cast<std::int32_t*>(p)[k] = static_cast<std::int32_t>(v);
      break;
    case dtype::f16:
      reinterpret_cast<std::uint16_t*>(p)[k] = test_math::to_f16(static_cast<float>(v));
      break;
    case dtype::bf16:
      reinterpret_cast<std::uint16_t*>(p)[k] = test_math::to_bf16(static_cast<float>(v));
      break;
    default:
      reinterpret_cast<std::uint8_t*>(p)[k] = static_cast<std::uint8_t>(v);
      break;
  }
}

using memory = std::unique_ptr<std::byte, void (*)(void*)>;
memory aligned(std::size_t bytes) {
  void* p = nullptr;
  REQUIRE(posix_memalign(&p, 64, bytes) == 0);  // not a byte more: sanitizers see every overflow
  std::memset(p, 0xff, bytes);                  // NaN: nothing unwritten may be read
  return {static_cast<std::byte*>(p), std::free};
}

struct executor {
  const schedule& s;
  const graph_case& c;
  std::vector<memory> buffers;

  std::int64_t number(const dim& d) const { return evaluate(d, c.bindings); }

  explicit executor(const schedule& schedule_, const graph_case& case_) : s(schedule_), c(case_) {
    for (const buffer& b : s.buffers) {
      const auto n = static_cast<std::size_t>(number(b.elements));
      buffers.push_back(aligned(n * dtype_size(b.type)));
      if (b.kind != buffer_kind::temporary)
        for (std::size_t k = 0; k < n; ++k)
          put(buffers.back().get(), b.type, k, c.leaves.at(b.path).v[k]);
    }
  }
  // pieces: how many grains a call gets at once.
  void run(int pieces) {
    for (const step& x : s.steps) {
      if (x.what == step::kind::kernel) {
        run_kernel(x);
        continue;
      }
      std::vector<void*> p;
      for (int b : x.buffers) p.push_back(buffers[static_cast<std::size_t>(b)].get());
      std::vector<std::int64_t> dims;
      for (const dim& d : x.dims) dims.push_back(number(d));
      memory scratch =
          aligned(x.scratch_bytes + 8 * static_cast<std::size_t>(number(x.scratch_elements)));
      const generated_fn f =
          find_kernel(s.kernels[static_cast<std::size_t>(x.kernel)].key, isa::portable);
      REQUIRE(static_cast<bool>(f));
      const std::int64_t all = number(x.parallel), step = number(x.grain) * pieces;
      for (std::int64_t b = 0; b < all; b += step)
        f({p.data(), dims.data(), b, std::min(b + step, all), scratch.get()});
    }
  }
  tensor_ref ref(const view& v) {
    tensor_ref t{.data = buffers[static_cast<std::size_t>(v.buffer)].get() +
                         static_cast<std::size_t>(number(v.offset)) * dtype_size(v.type),
                 .type = v.type,
                 .rank = v.rank};
    for (int k = 0; k < v.rank; ++k)
      t.extent[k] = number(v.extent[k]), t.stride[k] = number(v.stride[k]);
    return t;
  }
  // Hand-written kernels are run by their references.
  void run_kernel(const step& x) {
    std::vector<dense> in, out;
    for (const view& v : x.in) in.push_back(read(v));
    for (const view& v : x.out) {
      dense d;
      std::size_t n = 1;
      for (int k = 0; k < v.rank; ++k)
        d.extent.push_back(number(v.extent[k])), n *= static_cast<std::size_t>(d.extent.back());
      d.v.assign(n, 0);
      out.push_back(std::move(d));
    }
    std::vector<const dense*> p;
    for (const dense& d : in) p.push_back(&d);
    attrs a = x.a;
    for (dim& d : a.d) d = number(d);
    x.op->reference({a, p, out});
    for (std::size_t k = 0; k < out.size(); ++k) {
      const tensor_ref t = ref(x.out[k]);
      for (std::size_t e = 0; e < out[k].v.size(); ++e)
        put(static_cast<std::byte*>(t.data), t.type, e, out[k].v[e]);
    }
  }
  dense read(const view& v) {
    const tensor_ref t = ref(v);
    dense d;
    std::size_t n = 1;
    for (int k = 0; k < t.rank; ++k)
      d.extent.push_back(t.extent[k]), n *= static_cast<std::size_t>(t.extent[k]);
    for (std::size_t e = 0; e < n; ++e) {
      std::size_t rest = e;
      std::int64_t at = 0;
      for (int k = t.rank - 1; k >= 0; --k) {
        const auto m = static_cast<std::size_t>(t.extent[k]);
        at += static_cast<std::int64_t>(rest % m) * t.stride[k];
        rest /= m;
      }
      d.v.push_back(
          get(static_cast<const std::byte*>(t.data), t.type, static_cast<std::size_t>(at)));
    }
    return d;
  }
};

void compile(const std::vector<schedule>& all) {
  std::map<std::uint64_t, generated_kernel> kernels;
  for (const schedule& s : all)
    for (const generated_kernel& k : s.kernels) kernels.emplace(k.key, k);
  std::vector<generated_kernel> list;
  for (auto& [key, k] : kernels)
    if (find_kernel(key, isa::portable) == nullptr) list.push_back(k);
  char name[] = "/tmp/ropewalk-test-XXXXXX";
  REQUIRE(mkdtemp(name) != nullptr);
  const std::string dir = name, source = dir + "/kernels.cpp", object = dir + "/kernels.so";
  std::ofstream(source) << kernel_source(list);
  // -O1 is enough for the meaning; the flags of the build are tested with the models.
  const std::string command =
      std::string(TEST_COMPILER) +
      " -std=c++20 -O1 -fopenmp-simd -Wall -Wextra -Wno-unknown-pragmas -fPIC -shared "
      "-DROPEWALK_ISA_NAMESPACE=portable -I" TEST_INCLUDE " " +
      source + " -o " + object + " 2> " + dir + "/log";
  const int rc = std::system(command.c_str());
  std::ifstream log(dir + "/log");
  const std::string text((std::istreambuf_iterator<char>(log)), {});
  INFO(text);
  REQUIRE(rc == 0);
  CHECK(text.find("error") == std::string::npos);
  void* handle = dlopen(object.c_str(), RTLD_NOW);
  INFO((handle == nullptr ? dlerror() : ""));
  REQUIRE(handle != nullptr);
  std::filesystem::remove_all(dir);
}

void fill(graph_case& c, std::mt19937& r) {
  for (int k = 0; k < c.p.g.size(); ++k) {
    const graph_node& n = c.p.g[k];
    if (n.op->kind != op_class::leaf || n.op == &constant_info || c.leaves.contains(n.path))
      continue;
    dense d{evaluate(n.type.s, c.bindings), {}};
    std::size_t size = 1;
    for (std::int64_t e : d.extent) size *= static_cast<std::size_t>(e);
    for (std::size_t e = 0; e < size; ++e) {
      if (n.type.d == dtype::boolean)
        d.v.push_back(static_cast<double>(r() % 2));
      else if (!is_floating(n.type.d))
        d.v.push_back(static_cast<double>(r() % 3));
      else
        d.v.push_back(static_cast<double>(std::uniform_real_distribution<float>(-2, 2)(r)));
    }
    c.leaves[n.path] = std::move(d);
  }
}

}  // namespace

bool text_contains(const schedule& s, const std::string& part) {
  return std::any_of(s.kernels.begin(), s.kernels.end(),
                     [&](auto& k) { return k.text.find(part) != std::string::npos; });
}

void check_cases(std::vector<graph_case>& cases, double tolerance) {
  std::vector<schedule> all;
  for (const graph_case& c : cases) {
    CAPTURE(c.name);
    verify(c.p, "test");
    all.push_back(make_schedule(c.p));
    const schedule again = make_schedule(c.p);
    CHECK(print(all.back()) == print(again));
  }
  compile(all);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    graph_case& c = cases[i];
    CAPTURE(c.name);
    fill(c, random);
    const std::map<std::string, dense> wanted = evaluate_reference(c.p, c.bindings, c.leaves);
    std::map<std::string, dense> first;
    for (int pieces : {1, 3, 1000000}) {
      executor x(all[i], c);
      x.run(pieces);
      std::map<std::string, dense> got;
      for (const schedule::result& r : all[i].outputs) got[r.name] = x.read(r.where);
      for (const program_update& u : c.p.updates)
        for (std::size_t b = 0; b < all[i].buffers.size(); ++b)
          if (all[i].buffers[b].path == c.p.g[u.leaf].path) {
            dense d = c.leaves[all[i].buffers[b].path];
            for (std::size_t e = 0; e < d.v.size(); ++e)
              d.v[e] = get(x.buffers[b].get(), all[i].buffers[b].type, e);
            got[all[i].buffers[b].path] = d;
          }
      for (const auto& [name, want] : wanted) {
        CAPTURE(name);
        REQUIRE(got.contains(name));
        const dense& have = got[name];
        REQUIRE(have.v.size() == want.v.size());
        double largest = 0;
        for (double v : want.v)
          if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
        for (std::size_t e = 0; e < want.v.size(); ++e) {
          const double a = have.v[e], b = want.v[e];
          const bool same = (std::isnan(a) && std::isnan(b)) || a == b ||
                            std::fabs(a - b) <= tolerance * (1 + std::fabs(b) + 0.1 * largest);
          if (!same) {
            MESSAGE(print(c.p) << print(all[i]));
            CAPTURE(pieces);
            CAPTURE(e);
            CAPTURE(a);
            CAPTURE(b);
            REQUIRE(same);
          }
        }
      }
      if (first.empty())
        first = std::move(got);
      else
        for (const auto& [name, have] : got)
          CHECK(std::memcmp(first[name].v.data(), have.v.data(), have.v.size() * sizeof(double)) ==
                0);
    }
  }
}

}  // namespace ropewalk::test
