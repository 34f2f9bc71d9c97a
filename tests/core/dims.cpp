// Laws of dims, shapes and broadcasting, over many random instances; what a broken rule says.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include <ropewalk/core/shape.hpp>

using namespace ropewalk;

namespace {

std::string text_of(const dim& d) { return d.fixed() ? std::to_string(d.n) : d.sym; }

// A dim of at most `depth` operations on T, C, H and small numbers.
dim random_dim(std::mt19937& r, int depth) {
  const dim names[] = {dim("T"), dim("C"), dim("H")};
  if (depth == 0) return r() % 3 == 0 ? dim(r() % 5 + 1) : names[r() % 3];
  const dim a = random_dim(r, depth - 1), b = random_dim(r, depth - 1);
  switch (r() % 4) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    default:
      return a / names[r() % 3];
  }
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("dims are a commutative ring, and division undoes a product") {
  std::mt19937 r(1);
  int held = 0;
  for (int k = 0; k < 3000; ++k) {
    try {
      const dim a = random_dim(r, 1), b = random_dim(r, 1), c = random_dim(r, 1);
      INFO(text_of(a), "  ", text_of(b), "  ", text_of(c));
      const bool laws[] = {a + b == b + a,
                           a * b == b * a,
                           a + (b + c) == (a + b) + c,
                           a * (b + c) == a * b + a * c,
                           a - a == dim(0),
                           a + b - b == a,
                           a * dim(1) == a,
                           a * dim("H") / dim("H") == a,
                           6 * a / 3 == a + a};
      for (const bool law : laws) CHECK(law);
      ++held;
    } catch (const error& e) {  // too long for a dim
      CHECK(std::string(e.what()).find("at most") != std::string::npos);
    }
  }
  CHECK(held > 2000);
}

TEST_CASE("the text of a dim is canonical and reads back") {
  std::mt19937 r(2);
  int read = 0;
  for (int k = 0; k < 3000; ++k) try {
      const dim a = random_dim(r, 2);
      if (a.fixed()) continue;
      CHECK(dim(detail::parse_dim(a.sym)) == a);
      ++read;
    } catch (const error&) {
    }
  CHECK(read > 1500);
  const dim B{"B"}, T{"T"}, C{"C"}, H{"H"};
  CHECK(text_of(T * B) == "B*T");
  CHECK(text_of(3 * T + 1) == text_of(1 + T + T + T));
  CHECK(text_of(C / H) == "C/H");
  CHECK(text_of(C / H * H) == "C");
  CHECK(text_of(C * C / (2 * H * H)) == "C*C/2/H/H");
  CHECK(text_of(dim("C", 384) / dim("H", 6)) == "64");
}

TEST_CASE("a broken rule of dims throws at run time") {
  const dim T{"T"}, C{"C", 384};
  CHECK(message_of([&] { return C / 5; }) == "[dim] a dim must divide without remainder");
  CHECK(message_of([&] { return C / 0; }) == "[dim] a dim must divide without remainder");
  CHECK(message_of([&] { return C / (T + 1); }) == "[dim] the divisor of a dim is one term");
  CHECK(message_of([] { return dim(""); }) == "[dim] a dim's name must not be empty");
  CHECK(message_of([] { return dim("T", 0); }) == "[dim] a fixed dim is positive");
  for (const char* name : {"3T", "T+1", "T T", "longer_than_11"})
    CHECK(message_of([=] { return dim(name); }) ==
          "[dim] a dim's name has 1 to 11 letters and digits");
  CHECK(message_of([] {
          shape s;
          for (int i = 0; i < 7; ++i) s.push(2);
          return s;
        }) == "[dim] a shape has at most 6 dims");
}

TEST_CASE("broadcasting is commutative and associative, with [] as its identity") {
  std::mt19937 r(3);
  const auto any = [&] {
    const dim choice[] = {dim(1), dim(1), dim(3), dim("T")};
    shape s;
    for (auto n = r() % 4; n-- > 0;) s.push(choice[r() % 4]);
    return s;
  };
  int paired = 0;
  for (int k = 0; k < 5000; ++k) {
    const shape a = any(), b = any(), c = any();
    const broadcast_result ab = broadcast(a, b), ba = broadcast(b, a), bc = broadcast(b, c);
    CHECK(ab.ok == ba.ok);
    CHECK((broadcast(a, shape{}).ok && broadcast(a, shape{}).s == a));
    CHECK((broadcast(a, a).ok && broadcast(a, a).s == a));
    if (!ab.ok) continue;
    CHECK(ab.s == ba.s);
    if (!bc.ok || !broadcast(a, c).ok) continue;
    const broadcast_result left = broadcast(ab.s, c), right = broadcast(a, bc.s);
    CHECK((left.ok && right.ok && left.s == right.s));
    ++paired;
  }
  CHECK(paired > 1000);
}

TEST_CASE("the text of a shape reads back") {
  std::mt19937 r(4);
  for (int k = 0; k < 1000; ++k) {
    shape s;
    for (auto n = r() % 5; n-- > 0;) s.push(random_dim(r, r() % 2 ? 1 : 0) + dim(1));
    const detail::shape_chars c = detail::print_shape(s);
    CHECK(detail::parse_shape({c.s, static_cast<std::size_t>(c.n)}) == s);
  }
  CHECK(std::string(detail::print_shape({dim("B"), dim("T"), 3 * dim("C")}).s) == "[B, T, 3*C]");
  static_assert(join_text<text("ab"), text("c")>().view() == "abc");
  static_assert(shp<"[B, 3*T+1]">::value == shape{dim("B"), 3 * dim("T") + 1});
}
