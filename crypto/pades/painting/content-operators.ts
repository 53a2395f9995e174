/** Operators of content streams (ISO 32000-2, annex A). */
import { type ByteSlice, items } from '../../pdf/index.ts';
import { isOddNumber, numberOf } from './geometry.ts';
import { UnreadableContent } from './painted-marks.ts';

/** Operands of operators (ISO 32000-2, annex A): with more of them, programs take the first or the last ones. */
const OPERANDS: ReadonlyMap<string, number> = new Map(
  [
    "w g G Tj ' TJ TL Ts Tz Tr Tc Tw gs Do cs CS sh",
    'm l Td TD Tf',
    'rg RG "',
    'k K re v y',
    '',
    'cm c Tm',
  ].flatMap((operators, index) => operators.split(' ').map((operator) => [operator, index + 1] as const)),
);
/** The other operators: those without an effect on marks, and those of all programs for unknown ones. */
const OTHERS: ReadonlySet<string> = new Set(
  'q Q h W W* f F f* B B* b b* S s n sc scn SC SCN BI BT ET T* TJ i j J M ri d d0 d1 BX EX MP DP BMC BDC EMC'.split(
    ' ',
  ),
);

/**
 * Returns why programs may read an operator in different ways; undefined for one that all read alike.
 * @param isStrict true where a surplus operand counts, and one without an effect
 */
export function operatorFault(
  operator: string,
  operands: readonly ByteSlice[],
  isStrict: boolean,
): string | undefined {
  const wanted = OPERANDS.get(operator);
  const isOdd = (one: ByteSlice): boolean => isOddNumber(one) || [...items(one)].some(isOddNumber);
  const fault = isStrict && operands.some(isOdd) ? `${operator} with what is no number` : undefined;
  // Some programs read two operators where others read an unknown one.
  if (wanted === undefined) return OTHERS.has(operator) ? fault : `the operator ${operator}`;
  if (!isStrict) return undefined;
  if (wanted !== operands.length) return `${operator} with ${operands.length} operands`;
  return fault;
}

/** @throws UnreadableContent for what is no number, of which programs make others */
export function requiredNumber(operator: string, operand: ByteSlice | undefined): number {
  const number = numberOf(operand);
  if (number === undefined) throw new UnreadableContent(`${operator} without a number`);
  return number;
}
