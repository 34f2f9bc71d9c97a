// Schedules as text.
#include <ropewalk/graph/schedule.hpp>

namespace ropewalk {
namespace {

std::string shown(const dim& d) { return d.fixed() ? std::to_string(d.n) : d.sym; }

std::string shown(const schedule& s, int b) {
  static const char* kinds[] = {"t", "input ", "param ", "state "};
  const buffer& x = s.buffers[static_cast<std::size_t>(b)];
  std::string r = kinds[static_cast<int>(x.kind)];
  r += x.kind == buffer_kind::temporary ? std::to_string(b) : x.path;
  return r + ":" + dtype_name(x.type) + "[" + shown(x.elements) + "]";
}

std::string shown(const schedule& s, const view& v) {
  std::string r = shown(s, v.buffer) + "(";
  for (int k = 0; k < v.rank; ++k)
    r += (k > 0 ? ", " : "") + shown(v.extent[k]) + ":" + shown(v.stride[k]);
  if (!(v.offset == dim(0))) r += " at " + shown(v.offset);
  return r + ")";
}

}  // namespace

std::string print(const schedule& s) {
  std::string r = "schedule: " + std::to_string(s.steps.size()) + " steps, " +
                  std::to_string(s.kernels.size()) + " kernels, " +
                  std::to_string(s.buffers.size()) + " buffers\n";
  for (std::size_t i = 0; i < s.steps.size(); ++i) {
    const step& x = s.steps[i];
    r += std::to_string(i) + ": ";
    if (x.what == step::kind::kernel) {
      r += std::string(x.op->name);
      for (std::size_t k = 0; k < x.in.size(); ++k) r += (k > 0 ? ", " : " ") + shown(s, x.in[k]);
      for (std::size_t k = 0; k < x.out.size(); ++k)
        r += (k > 0 ? ", " : " -> ") + shown(s, x.out[k]);
      r += "\n";
      continue;
    }
    const generated_kernel& kernel = s.kernels[static_cast<std::size_t>(x.kernel)];
    r += "kernel " + std::to_string(x.kernel) + " " + kernel.label + "\n     ";
    dim bytes = 0;
    bool known = true;
    for (std::size_t k = 0; k < x.buffers.size(); ++k) {
      bool written = false;
      for (int w : x.writes) written = written || w == x.buffers[k];
      r += std::string(" b") + std::to_string(k) + (written ? "=>" : "=") + shown(s, x.buffers[k]);
      const buffer& b = s.buffers[static_cast<std::size_t>(x.buffers[k])];
      try {
        bytes = bytes + b.elements * dim(static_cast<std::int64_t>(dtype_size(b.type)));
      } catch (const error&) {  // the text of the sum would be too long
        known = false;
      }
    }
    for (std::size_t k = 0; k < x.dims.size(); ++k)
      r += " n" + std::to_string(k) + "=" + shown(x.dims[k]);
    r += "\n      [0, " + shown(x.parallel) + ") by " + shown(x.grain);
    if (known) r += ", " + shown(bytes) + " bytes";
    if (x.scratch_bytes > 0) r += ", scratch " + shown(x.scratch_elements) + " x 8";
    r += "\n";
  }
  for (const schedule::result& o : s.outputs)
    r += "output " + o.name + " = " + shown(s, o.where) + "\n";
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    r += "kernel " + std::to_string(k) + " " + s.kernels[k].label + "\n" + s.kernels[k].text;
  return r;
}

}  // namespace ropewalk
