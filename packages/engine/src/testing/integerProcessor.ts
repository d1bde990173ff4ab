import { processorHas } from '../support/processor.js';

/** Without one of these, ONNX Runtime's sums of integers are too narrow for the codes of `IntegerMatrix`. */
const features = ['amx_int8', 'avx512_vnni', 'avx_vnni'];

/** A reason to skip tests that compute in 8-bit integers, or `false`. */
export const withoutIntegers: string | false = features.some(processorHas)
  ? false
  : `the processor has none of ${features.join(', ')}`;
