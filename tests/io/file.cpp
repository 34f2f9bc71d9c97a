// Whole files: what is written is read back, and a failure leaves the old file and no litter.
#include "ropewalk/io/file.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"

using namespace ropewalk;

TEST_CASE("written, read and mapped bytes are the same") {
  scratch_folder dir;
  for (std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 1'000'003u}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 131 + i / 251);
    write_file_atomic(dir / "a", text);
    CHECK(read_file(dir / "a") == text);
    mapped_file map(dir / "a");
    mapped_file moved(std::move(map));
    CHECK(map.bytes().empty());
    CHECK(std::string(reinterpret_cast<const char*>(moved.bytes().data()), size) == text);
    CHECK(dir.files() == 1);
  }
}

TEST_CASE("a mapping keeps the bytes of a file that is replaced") {
  scratch_folder dir;
  write_file_atomic(dir / "a", "old bytes");
  mapped_file map(dir / "a");
  write_file_atomic(dir / "a", "new");
  CHECK(std::string(reinterpret_cast<const char*>(map.bytes().data()), 9) == "old bytes");
  CHECK(read_file(dir / "a") == "new");
}

TEST_CASE("permissions of the replaced file stay") {
  scratch_folder dir;
  write_file_atomic(dir / "a", "1");
  REQUIRE(::chmod((dir / "a").c_str(), 0640) == 0);
  write_file_atomic(dir / "a", "2");
  struct stat info{};
  REQUIRE(::stat((dir / "a").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0640);
}

TEST_CASE("without commit the target stays and the temporary goes") {
  scratch_folder dir;
  write_file_atomic(dir / "a", "old");
  {
    atomic_writer out(dir / "a");
    out.write("half");
    CHECK(dir.files() == 2);
  }
  CHECK(dir.files() == 1);
  CHECK(read_file(dir / "a") == "old");
}

TEST_CASE("a write that fails half way leaves the old file") {
  scratch_folder dir;
  write_file_atomic(dir / "a", "old");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small{10'000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto message = message_of([&] { write_file_atomic(dir / "a", std::string(20'000, 'x')); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_MESSAGE(has(message, "writing failed, the old file is unchanged"), message);
  CHECK(read_file(dir / "a") == "old");
  CHECK(dir.files() == 1);
}

TEST_CASE("faults name the file") {
  scratch_folder dir;
  auto message = message_of([&] { read_file(dir / "missing"); });
  CHECK_MESSAGE(has(message, "[" + dir.path + "/missing] cannot be opened"), message);
  CHECK(has(message_of([&] { read_file(dir.path); }), "regular file"));
  CHECK(has(message_of([&] { mapped_file map(dir.path); }), "regular file"));
  CHECK(has(message_of([&] { write_file_atomic(dir / "no/a", "x"); }), "/no/a]"));
  CHECK(has(message_of([&] { write_file_atomic(dir.path, "x"); }), "only a regular file"));
  CHECK(has(message_of([&] { write_file_atomic("/dev/null", "x"); }), "only a regular file"));
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK(has(message_of([&] { read_file(dir / "pipe"); }), "regular file"));  // and does not hang
  CHECK(dir.files() == 1);
}
