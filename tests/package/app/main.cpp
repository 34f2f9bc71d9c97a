// Uses a header of Ropewalk, and links it.
#include <ropewalk/core/dtype.hpp>
#include <ropewalk/core/error.hpp>

int main() {
  try {
    throw ropewalk::error("app", "dtype", ropewalk::dtype_name(ropewalk::f32), "must be caught");
  } catch (const ropewalk::error&) {
    return 0;
  }
}
