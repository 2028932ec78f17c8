#pragma once

namespace test {

/// From now on, aligned allocations by the nothrow operator new fail, in all threads: nopal takes its stacklets from there.
void fail_nothrow_allocations(bool fail);

}  // namespace test
