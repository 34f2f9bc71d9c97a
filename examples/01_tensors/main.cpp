// Tensors, and a gradient that is checked against differences of the loss.
//
// tensors.hpp says what to compute. CMakeLists.txt hands it to ropewalk_add_model, which generates
// and compiles kernels for it; a session here gives values to the inputs and runs them.
#include "tensors.hpp"

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include <ropewalk/session.hpp>

namespace {

void print(const ropewalk::tensor_view& t) {
  std::printf("%s %s\n", std::string(t.name()).c_str(), ropewalk::type_text(t.ref()).c_str());
  const std::vector<double> v = t.values();  // row-major, whatever the element type
  const std::size_t columns = t.rank() == 0 ? 1 : static_cast<std::size_t>(t.extent(-1));
  for (std::size_t i = 0; i < v.size(); ++i)
    std::printf("%9.4f%s", v[i], (i + 1) % columns == 0 ? "\n" : "");
}

int run() {
  std::vector<float> a = {0.1f, -0.2f, 0.3f, 0.4f, 0.5f, -0.6f};  // [2, 3]
  const std::vector<float> b = {10, 20, 30};                      // [3]
  const std::vector<float> w = {1, -1, 0.5f, 2, -1.5f, 0.25f};    // [3, 2]

  ropewalk::session<tensors::arithmetic> s(ropewalk::any_device());
  s.run(tensors::a = a, tensors::b = b, tensors::w = w);
  // Results by their expression; by name, s.get("total"), it works as well.
  print(s.get(tensors::total));
  print(s.get(tensors::product));
  print(s.get(tensors::loss));
  print(s.get(tensors::gradient));

  // d loss / d a[i] is close to (loss(a[i] + h) - loss(a[i] - h)) / 2 h.
  const std::vector<double> gradient = s.get(tensors::gradient).values();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float h = 1e-2f, kept = a[i];
    a[i] = kept + h;
    s.run(tensors::a = a);  // the other inputs keep their values
    const double above = s.get(tensors::loss).item();
    a[i] = kept - h;
    s.run(tensors::a = a);
    const double below = s.get(tensors::loss).item();
    a[i] = kept;
    largest = std::fmax(largest, std::fabs((above - below) / (2 * h) - gradient[i]));
  }
  std::printf("largest difference between gradient and quotient: %.1e\n", largest);
  return largest < 1e-3 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
