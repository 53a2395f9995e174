import { mkdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { certificateFile } from '../../browser/certificate-files.ts';
import { freshPath } from '../../crypto/pades/validation/verdicts.ts';
import { runTool, type ToolName, withTools } from '../../verifiers/index.ts';
import { flaws, open } from './opened-file.ts';

withTools(
  test,
  'openssl',
  'certutil',
  'pk12util',
  'keytool',
)('the page opens containers of NSS and Java', async (t) => {
  const options = ['-name', 'signer'];
  const made = certificateFile({ kind: 'p-256', password: 'secret', name: 'Ana', options });
  const database = freshPath('nss');
  mkdirSync(database);
  const at = ['-d', `sql:${database}`];
  await must('certutil', '-N', ...at, '--empty-password');
  await must('pk12util', '-i', made.path, ...at, '-W', 'secret', '-K', '');
  const path = freshPath('nss.p12');
  await must('pk12util', '-o', path, '-n', 'signer', ...at, '-W', 'secret', '-K', '');
  t.deepEqual(flaws(await open(readFileSync(path), 'secret'), made), []);
  for (const way of [[], ['-J-Dkeystore.pkcs12.legacy']]) {
    const path = freshPath('java.p12');
    const source = ['-srckeystore', made.path, '-srcstorepass', 'secret'];
    const target = ['-destkeystore', path, '-deststorepass', 'secret', '-deststoretype', 'PKCS12'];
    await must('keytool', ...way, '-importkeystore', '-noprompt', ...source, ...target);
    t.deepEqual(flaws(await open(readFileSync(path), 'secret'), made), [], way.join(' '));
  }
});

async function must(tool: ToolName, ...args: readonly string[]): Promise<void> {
  const { exit, stdout, stderr } = await runTool(tool, args);
  if (exit !== 0) throw new Error(`${tool} ${args.join(' ')}: ${stdout}\n${stderr}`);
}
