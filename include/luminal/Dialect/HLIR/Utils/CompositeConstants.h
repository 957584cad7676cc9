//===- CompositeConstants.h - Constants of the composites -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Used by the composer, and by the rules that recognise its spellings. Each
// constant is the f64 nearest to the exact value; a spelling in f32 rounds it
// once more.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_COMPOSITECONSTANTS_H
#define LUMINAL_DIALECT_HLIR_UTILS_COMPOSITECONSTANTS_H

#include <cstddef>

namespace luminal::hlir {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0.6931471805599453;
constexpr double kSqrtHalf = 0.7071067811865476;
constexpr double kSqrtTwoOverPi = 0.7978845608028654;
constexpr double kGeluCubic = 0.044715;

/// The series of tanh(x) / x in x^2, used for |x| below kTanhNear.
constexpr double kTanhNear = 0.1;
constexpr double kTanhSeries[] = {1.0,
                                  -0.3333333333333333,
                                  0.13333333333333333,
                                  -0.05396825396825397,
                                  0.021869488536155203,
                                  -0.008863235529902197,
                                  0.003592128036572481};

/// The series of atan(x) / x in x^2, used below tan(pi / 16).
constexpr double kAtanSeries[] = {1.0,
                                  -0.3333333333333333,
                                  0.2,
                                  -0.14285714285714285,
                                  0.1111111111111111,
                                  -0.09090909090909091,
                                  0.07692307692307693,
                                  -0.06666666666666667,
                                  0.058823529411764705,
                                  -0.05263157894736842,
                                  0.047619047619047616,
                                  -0.043478260869565216,
                                  0.04};
constexpr double kHalfPi = 1.5707963267948966;

/// Above this, adding 1 to the square of an f64 does not change it, and the
/// square may overflow.
constexpr double kLarge = 1e10;

/// The series of 2 sinh(x/2) / x in (x/2)^2, used for |x| below kExpm1Near.
constexpr double kExpm1Near = 1.0;
constexpr double kSinhSeries[] = {1.0,
                                  0.16666666666666666,
                                  0.008333333333333333,
                                  0.0001984126984126984,
                                  2.7557319223985893e-06,
                                  2.505210838544172e-08,
                                  1.6059043836821613e-10};

/// The series of 2 atanh(s) / s in s^2, used for |x| below kLog1pNear.
constexpr double kLog1pNear = 0.1;
constexpr double kAtanhSeries[] = {2.0,
                                   0.6666666666666666,
                                   0.4,
                                   0.2857142857142857,
                                   0.2222222222222222,
                                   0.18181818181818182,
                                   0.15384615384615385};

/// The nodes t of the 24-point Gauss-Legendre rule on [0, 1], as -t^2 log2(e),
/// and its weights times 2 / sqrt(pi).
constexpr size_t kErfNodes = 24;
constexpr double kErfExponents[kErfNodes] = {
    -8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567,
    -0.00465320817407992,  -0.011685571968700037,   -0.02435825957920753,
    -0.04466514518136478,  -0.07453021683914095,    -0.11562832577182065,
    -0.16921605677556306,  -0.23598476085144388,    -0.3159464268073446,
    -0.40836098847498137,  -0.5117110031759451,     -0.623726568441588,
    -0.7414600679937448,   -0.8614070688061813,     -0.9796666428624574,
    -1.092131760411541,    -1.194698370652351,      -1.2834804931503063,
    -1.3550182213489097,   -1.4064663967248472,     -1.435760021278473};
constexpr double kErfWeights[kErfNodes] = {
    0.006962793301321938, 0.016097112268597273, 0.024980869766961337,
    0.03345564392841154,  0.041381320802010645, 0.04862759134062656,
    0.05507542667711332,  0.06061893801131929,  0.06516709475663683,
    0.06864521345119595,  0.07099618209102601,  0.07218139715253559,
    0.07218139715253559,  0.07099618209102601,  0.06864521345119595,
    0.06516709475663683,  0.06061893801131929,  0.05507542667711332,
    0.04862759134062656,  0.041381320802010645, 0.03345564392841154,
    0.024980869766961337, 0.016097112268597273, 0.006962793301321938};

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_UTILS_COMPOSITECONSTANTS_H
