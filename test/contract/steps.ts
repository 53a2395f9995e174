export { A, B, effectOf, stepOf } from '#runtime/testing/steps.js';
