// The scalar math of generated kernels. Everything is branch-free so that loops over it vectorise;
// the file is compiled once per instruction set, in the namespace that ROPEWALK_ISA_NAMESPACE names.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ropewalk::ROPEWALK_ISA_NAMESPACE {
namespace {

template <class T>
inline T larger(T a, T b) { return a > b ? a : b; }
template <class T>
inline T smaller(T a, T b) { return a < b ? a : b; }
inline float absolute(float x) { return __builtin_fabsf(x); }
inline double absolute(double x) { return __builtin_fabs(x); }
inline int absolute(int x) { return x < 0 ? -x : x; }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
inline float exp(float x) { return std::exp(x); }
inline float log(float x) { return std::log(x); }
inline float sin(float x) { return std::sin(x); }
inline float cos(float x) { return std::cos(x); }
inline float tanh(float x) { return std::tanh(x); }
inline float erf(float x) { return std::erf(x); }
inline float pow(float x, float y) { return std::pow(x, y); }
inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double pow(double x, double y) { return std::pow(x, y); }

}  // namespace
}  // namespace ropewalk::ROPEWALK_ISA_NAMESPACE
