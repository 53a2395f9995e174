/** Compiles the examples of both OpenAPI documents against the types of the client in `clients/`. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { withPartsInPlace } from '../../../../http/core/openapi/shared-parts.ts';
import { freshFolder } from '../../../commands/program.ts';
import { batchDocument, portalDocument } from '../../descriptions.ts';

interface Media {
  readonly example?: unknown;
}
interface Content {
  readonly content?: { readonly 'application/json'?: Media };
}
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly examples?: readonly unknown[] };
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: { readonly [status: string]: Content };
}
interface Description {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
}

const SERVICES = [
  ['portal', 'PortalOperations', withPartsInPlace(portalDocument()) as unknown as Description],
  ['batch', 'BatchOperations', withPartsInPlace(batchDocument()) as unknown as Description],
] as const;

/** Statements that assign a value to a type. */
function assigned(type: string, value: unknown): readonly string[] {
  return value === undefined ? [] : [`((value: ${type}) => value)(${JSON.stringify(value)});`];
}

function statementsOf(type: string, { paths }: Description): readonly string[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [], requestBody, responses }]) => {
        const operation = `${type}[${JSON.stringify(`${method.toUpperCase()} ${path}`)}]`;
        const places = new Map([
          ['path', 'params'],
          ['query', 'query'],
        ]);
        return [
          ...parameters.flatMap(({ in: place, name, schema }) =>
            places.has(place)
              ? assigned(`${operation}['${places.get(place)}']['${name}']`, schema.examples?.[0])
              : [],
          ),
          ...assigned(`${operation}['body']`, requestBody?.content?.['application/json']?.example),
          ...['200', '202'].flatMap((status) =>
            assigned(`${operation}['answer']`, responses[status]?.content?.['application/json']?.example),
          ),
        ];
      }),
    );
}

/** Messages of the compiler about one module. */
async function faultsIn(lines: readonly string[]): Promise<readonly string[]> {
  const folder = freshFolder();
  const file = join(folder, 'examples.ts');
  const imports = SERVICES.map(
    ([name, type]) =>
      `import type { ${type} } from ${JSON.stringify(resolve('clients/typescript', `${name}.d.ts`))};`,
  );
  writeFileSync(file, [...imports, ...lines].join('\n'));
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes'];
  const target = ['--allowImportingTsExtensions', '--module', 'nodenext', '--target', 'es2022'];
  const compiler = resolve('node_modules/typescript/bin/tsc');
  return promisify(execFile)(process.execPath, [compiler, ...options, ...target, file], {
    maxBuffer: 16 * 1024 * 1024,
  }).then(
    () => [],
    (error: { readonly stdout?: string }) => (error.stdout ?? String(error)).trim().split('\n'),
  );
}

test('the types of the client accept every example of the OpenAPI documents', async (t) => {
  const statements = SERVICES.flatMap(([, type, description]) => statementsOf(type, description));
  t.true(statements.length > 200, `${statements.length} examples`);
  t.deepEqual(await faultsIn(statements), []);
  t.log(`${statements.length} examples were compiled`);
  const wrong = assigned(`PortalOperations['GET /api/documents/{id}']['answer']`, { status: 'Pending' });
  const unknown = assigned(`BatchOperations['POST /api/jobs/retry']['body']`, { limit: 1, unknown: true });
  t.is((await faultsIn([...wrong, ...unknown])).filter((line) => /error TS/.test(line)).length, 2);
});
