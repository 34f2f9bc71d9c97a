// The CSV log: see include/ropewalk/train/log.hpp.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <system_error>

#include "ropewalk/core/error.hpp"
#include "ropewalk/io/file.hpp"
#include "ropewalk/train/log.hpp"

namespace ropewalk {
namespace {

std::string number_text(double v) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
}

bool parse_step(std::string_view text, long& out) {
  auto r = std::from_chars(text.data(), text.data() + text.size(), out);
  return r.ec == std::errc() && r.ptr == text.data() + text.size() && out >= 0;
}

// Takes what is before the next `mark` (or the rest) off the front of `text`.
std::string_view take(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  const auto piece = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return piece;
}

[[noreturn]] void bad_row(const std::string& path, long line, std::string_view row) {
  throw error(path, "line " + std::to_string(line), std::string(row.substr(0, 60)),
              "must begin with a step");
}

}  // namespace

std::string csv_log::header(const std::string& path, const std::vector<std::string>& columns) {
  std::string out = "step";
  for (const std::string& c : columns) {
    if (c.empty() || c.find_first_of(",\"\r\n") != std::string::npos)
      throw error(path, "column", '"' + c + '"',
                  "must not be empty or have a comma, a quote or a line end");
    out += "," + c;
  }
  return out + "\n";
}

csv_log::csv_log(const std::string& path, const std::vector<std::string>& columns)
    : path_(path), columns_(columns.size()) {
  write_file_atomic(path, header(path, columns));
  open();
}

csv_log::csv_log(const std::string& path, const std::vector<std::string>& columns,
                 long resumed_step)
    : path_(path), columns_(columns.size()) {
  const std::string first = header(path, columns);
  std::string kept = first;
  if (::access(path.c_str(), F_OK) == 0) {
    const std::string old = read_file(path);
    std::string_view rest = old;
    // A run killed before its header was whole has no rows either.
    const bool whole = old.find('\n') != old.npos;
    const auto found = take(rest, '\n');
    if (whole ? std::string(found) + "\n" != first : !first.starts_with(found))
      throw error(path, "header", std::string(found.substr(0, 80)),
                  "must be " + first.substr(0, first.size() - 1));
    for (long line = 2; rest.find('\n') != rest.npos; ++line) {
      const auto row = take(rest, '\n');
      long step = 0;
      if (!parse_step(row.substr(0, row.find(',')), step)) bad_row(path, line, row);
      if (step > resumed_step) continue;
      kept.append(row) += '\n';
      last_step_ = std::max(last_step_, step);
    }
    if (kept != old) write_file_atomic(path, kept);
  } else {
    write_file_atomic(path, kept);
  }
  open();
}

csv_log::~csv_log() {
  if (file_ >= 0) ::close(file_);
}

void csv_log::open() {
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) throw error(path_, "cannot be opened: " + std::generic_category().message(errno));
}

void csv_log::append(long step, std::span<const csv_cell> cells) {
  if (step <= last_step_)
    throw error(path_, "step", std::to_string(step),
                "must be above the one before, " + std::to_string(last_step_));
  if (cells.size() != columns_)
    throw error(path_, "cells", std::to_string(cells.size()),
                "must be as many as the columns, " + std::to_string(columns_));
  std::string row = std::to_string(step);
  for (const csv_cell& c : cells) {
    row += ',';
    if (c.given) row += number_text(c.value);
  }
  row += '\n';
  struct stat before{};
  ::fstat(file_, &before);
  std::string_view rest = row;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int code = errno;
      if (::ftruncate(file_, before.st_size) != 0) errno = code;  // the first fault is the one told
      throw error(path_, "step " + std::to_string(step) +
                             " cannot be written: " + std::generic_category().message(code));
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  last_step_ = step;
}

curve csv_curve(const std::string& path, const std::string& column) {
  const std::string text = read_file(path);
  std::string_view rest = text, header = take(rest, '\n');
  long index = -1;
  for (long i = 0; !header.empty(); ++i)
    if (take(header, ',') == column) index = i;
  if (index < 1) throw error(path, "column", column, "must be in the header, after step");
  curve out{column, {}, {}};
  for (long line = 2; rest.find('\n') != rest.npos; ++line) {
    const std::string_view row = take(rest, '\n');
    std::string_view cells = row, cell;
    long step = 0;
    if (!parse_step(take(cells, ','), step)) bad_row(path, line, row);
    for (long i = 1; i <= index; ++i) cell = take(cells, ',');
    if (cell.empty()) continue;
    double value = 0;
    auto r = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (r.ec != std::errc() || r.ptr != cell.data() + cell.size())
      throw error(path, "line " + std::to_string(line) + ", " + column,
                  std::string(cell.substr(0, 40)), "must be a number");
    out.step.push_back(static_cast<double>(step));
    out.value.push_back(value);
  }
  return out;
}

}  // namespace ropewalk
