/** Parts of pages that not everybody may use: a reader whose scopes do not permit what they send has them not. */
import { type ComponentProps, createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { OperationName } from '../../../contracts/batch/access.ts';
import { Button } from '../../components/controls.tsx';

/** Operations that are refused to the reader. */
const Refused = createContext<readonly string[]>([]);

/** A page as a reader has it to whom these operations are refused. */
export function forReader(refused: readonly string[], page: VNode): VNode {
  return <Refused.Provider value={refused}>{page}</Refused.Provider>;
}

export function useMayCall(operation: OperationName): boolean {
  return !useContext(Refused).includes(operation);
}

/** A button, absent for a reader who may not call what it sends. */
export function ActionButton({ sends, ...button }: ComponentProps<typeof Button> & { sends: OperationName }) {
  return useMayCall(sends) ? <Button data-sends={sends} {...button} /> : null;
}
