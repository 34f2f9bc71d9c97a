// Trains a model of its own with the Ropewalk it was given; exit code 1 where it does not learn.
#include <cstdio>
#include <exception>
#include <vector>

#include <ropewalk/session.hpp>

#include "line.hpp"

int main() try {
  ropewalk::session<line::train> s(ropewalk::any_device(), {{line::N, 32}});
  std::vector<float> x, y;
  for (int i = 0; i < 32; ++i) {
    const float t = static_cast<float>(i) / 16 - 1;
    x.push_back(t);
    y.push_back(t * t);
  }
  double first = 0;
  for (int step = 0; step < 300; ++step) {
    s.run(line::x = x, line::y = y, ropewalk::learning_rate = 1e-2f);
    if (step == 0) first = s.get(line::loss).item();
  }
  const double last = s.get(line::loss).item();
  std::printf("loss %g, then %g\n", first, last);
  return last < first / 20 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
