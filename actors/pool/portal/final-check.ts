/** The final verification of a document in the task that adds its last signature. */
import type { ExpectedSignature, ServiceSignatureTask } from '../portal-tasks.ts';
import { checkSignatures } from './check.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

/**
 * True when the signed file holds all expected signatures and the new one, all valid. False leaves the verdict, with
 * its reason, to a task of its own.
 * @param certificate of the new signature, lower-case hex SHA-256
 */
export async function passesFinalCheck(
  {
    check,
    ...task
  }: Pick<ServiceSignatureTask, 'check' | 'documentId' | 'format' | 'input' | 'output' | 'profile'>,
  certificate: string,
  thread: PortalTaskContext,
): Promise<boolean> {
  if (check === null) return false;
  const { fieldName, at } = check;
  const expected: readonly ExpectedSignature[] = [...check.expected, { fieldName, certificate }];
  const isBeside = task.format === 'Cades';
  try {
    await checkSignatures(
      {
        ...{ task: 'portal.check', documentId: task.documentId, format: task.format, profile: task.profile },
        input: isBeside ? task.input : task.output,
        signatures: isBeside ? task.output : null,
        ...{ expected, at, output: null },
      },
      thread,
    );
    return true;
  } catch {
    return false;
  }
}
