// How often this test program has called operator new.
#pragma once

namespace testing {
long allocations();
}
