// What a training run shows and leaves behind: a progress line, a CSV file, a loss curve.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

// "1m 05s": a duration in its two largest units (s, m, h, d); "?" if negative or not finite.
std::string duration_text(double seconds);

// "step 120/1000  loss 2.3456  12.3k tokens/s  1m 20s left". Rates <= 0 are left out.
std::string progress_text(long step, long total, double loss, double tokens_per_second,
                          double seconds_left);

struct progress_options {
  long total = 0;      // steps of the whole run
  long first = 0;      // steps done before this process (a resumed run)
  double every = 10;   // seconds between plain lines; a terminal's line changes 10 times a second
  int descriptor = 2;  // where to write: standard error
};

// Reports steps on a terminal by rewriting one line, elsewhere by plain lines every so often; the
// first and the last step always show. Speed and time left come from the last half minute or so.
// Failing writes are ignored: a closed pipe must not stop a training run.
class progress {
 public:
  explicit progress(const progress_options& options);                    // starts the clock
  progress(const progress_options& options, double now, bool terminal);  // for another clock
  ~progress();                                                           // ends a rewritten line
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // `step` steps are done; `tokens` were processed since the call before; now: seconds of any
  // clock.
  void update(long step, double loss, long tokens);
  void update(long step, double loss, long tokens, double now);

 private:
  void show(const std::string& line);
  progress_options options_;
  bool terminal_ = false, open_line_ = false;
  long step_ = 0;
  double last_ = 0, shown_ = 0;                  // times of the last update and the last line
  double seconds_ = 0, steps_ = 0, tokens_ = 0;  // sums that fade over 30 seconds
};

// A cell of a CSV row: a number, or nothing (a loss that was not measured at this step). NaN and
// infinities are numbers: they are written "nan", "inf", "-inf".
struct csv_cell {
  double value = 0;
  bool given = false;
  csv_cell() = default;
  csv_cell(double v) : value(v), given(true) {}
};

// A CSV file of one row a step: "step,<columns>". Each row is one write, in the shortest decimals
// that read back as the same double. Errors name the file, and the line or the column.
class csv_log {
 public:
  // The line that such a file begins with. Error: a name with a comma, a quote or a line end.
  static std::string header(const std::string& path, const std::vector<std::string>& columns);
  // A new file (an old one is replaced).
  csv_log(const std::string& path, const std::vector<std::string>& columns);
  // Goes on after `resumed_step`: rows of later steps and a last row without an end (a killed run)
  // are cut off. A missing file is made. Errors: another header; a row that does not begin with a
  // step.
  csv_log(const std::string& path, const std::vector<std::string>& columns, long resumed_step);
  ~csv_log();
  csv_log(const csv_log&) = delete;
  csv_log& operator=(const csv_log&) = delete;

  // Errors: step not above the one before; cells not as many as columns; disk full (the row is then
  // taken back).
  void append(long step, std::span<const csv_cell> cells);

 private:
  void open();
  std::string path_;
  std::size_t columns_ = 0;
  long last_step_ = -1;
  int file_ = -1;
};

// One line of a diagram.
struct curve {
  std::string label;
  std::vector<double> step, value;  // equally many
};

// The given cells of a column of a csv_log's file, for a diagram of the whole run after a resume.
// Errors: no such column; a cell that is not a number.
curve csv_curve(const std::string& path, const std::string& column);

// Draws curves of values against steps as an SVG file: axes with ticks, a legend with last values.
// Values that are not finite leave a gap. Above 2 points a pixel only the first, least, greatest
// and last of each pixel column are drawn. Replaces the file in one step (write_file_atomic).
// Errors: a curve whose step and value differ in length; whatever the file system refuses.
void save_loss_curve(const std::string& path, std::span<const curve> curves,
                     const std::string& title = "loss");

// Whether a file that begins so was made by save_loss_curve.
bool is_loss_curve(std::string_view begin);

}  // namespace ropewalk
