/** Commands on files, for command lines of other programs. */
export { type ExtendOptions, extendFiles } from './command-line/extend-command.ts';
export {
  type CollectOnline,
  type CompareIndependently,
  formatOf,
  type VerifyOptions,
  verifyFiles,
} from './command-line/verify-command.ts';
export type { Opinion, OwnTrust } from './command-line/verify-verdict.ts';
