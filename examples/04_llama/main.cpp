// Trains a small Llama on a text with the same program as 03_char_gpt: only the model differs.
//
//   char_llama --text FILE --out DIR [--steps N] ...     (--help lists the options)
#include "llama.hpp"
#include "text_program.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  const text_model model{.description = "llama, C = " + std::to_string(llama::C.n) +
                                        ", H = " + std::to_string(llama::H.n) +
                                        ", G = " + std::to_string(llama::G.n) +
                                        ", layers = " + std::to_string(llama::layers),
                         .train = open<llama::train>,
                         .evaluate = open<llama::evaluate>,
                         .generate = open<llama::generate>};
  return text_main(argc, argv, model, {.steps = 1000, .batch = 8, .context = 64, .rate = 3e-3});
}
