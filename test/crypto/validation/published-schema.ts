/** Checks a validation report with the schema that ETSI publishes, which is not in this repository. */
import { writeFileSync } from 'node:fs';
import { runTool } from '../../verifiers/index.ts';
import { file } from '../asic/container-harness.ts';

/** Paths of schemas, separated by colons; their imports are resolved through `XML_CATALOG_FILES`. */
const SCHEMAS = (process.env['SEALWRIGHT_REPORT_SCHEMAS'] ?? '').split(':').filter((path) => path !== '');

/** Returns what each given schema objects to; nothing when none is given. */
export async function schemaFaults(xml: string): Promise<readonly string[]> {
  const path = file();
  writeFileSync(path, xml);
  const faults: string[] = [];
  for (const schema of SCHEMAS) {
    const { exit, stderr } = await runTool('xmllint', ['--nonet', '--noout', '--schema', schema, path]);
    if (exit !== 0) faults.push(`${schema}: ${stderr}`);
  }
  return faults;
}
