/** Reader of BER, which runs in browsers too. */
export {
  childrenOf,
  contents,
  type Element,
  oidText,
  parseAlgorithm,
  readElement,
  TAG,
} from './asn1/ber-reader.ts';
