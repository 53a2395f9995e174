/** Renders docs/configuration.md from the table of keys, so that page and program cannot drift apart. */
import { PROVIDER_KEYS, PROVIDER_ROLE_KEYS } from './identity-table.ts';
import { COMMON_KEYS, NEEDED_KEYS } from './key-groups.ts';
import type { KeyTable } from './keys.ts';
import { JOB_WEBHOOK_KEYS } from './notifications-table.ts';
import { ORGANIZATION_KEYS } from './portal-table.ts';
import { SIGNING_PROVIDER_KEYS } from './signing-providers-table.ts';
import { PROFILE_KEYS } from './signing-table.ts';
import { INPUT_KEYS, KEYS } from './table.ts';
import { TOKEN_KEYS, TOKEN_RIGHT_KEYS } from './token-table.ts';
import { UNUSED_KEYS } from './unknown-keys.ts';

const HEAD = `# Configuration

This page is made from \`settings/table.ts\` (\`node scripts/write-docs.mjs\`); a test compares the two.

Sources, later wins key by key: built-in defaults; \`appsettings.json\` in the working directory;
\`appsettings.<Environment>.json\`; the same two files in \`--config-dir\` or \`SEALWRIGHT_CONFIG_DIR\`; environment
variables with \`__\` for \`:\` (\`Storage__Inputs__0__Name\`); the command line (\`--Storage:Root=/srv/sealwright\`).
Keys are case-insensitive, lists are given by index, comments and trailing commas are allowed in the files, and
\`null\` means "back to the default". \`NODE_ENV=production\` makes the environment Production; anything else is
Development. Everything is read once, at start; \`sealwright check-config\` shows what was understood.

A configured list replaces the default list as a whole; between sources, lists are merged index by index.

Secrets belong into the environment or into a file that only the service reads. Every user of a machine sees the command
lines on it, so a secret given there is warned of at start.
`;

/** The whole page, Markdown. */
export function configurationReference(): string {
  const unused = UNUSED_KEYS.map((name) => `\`${name.replaceAll(':#:', '[]:')}\``).join(', ');
  return `${HEAD}
## Keys that a service in production sets

${rows(only((name) => NEEDED.has(name)))}
## Keys that many services set

${rows(only((name) => COMMON.has(name)))}
## Keys for experts

Their defaults suit nearly every service.

${rows(only((name) => !NEEDED.has(name) && !COMMON.has(name)))}
## Members of \`Storage:Inputs[]\`

${rows(INPUT_KEYS)}
## Members of \`Signing:Profiles[]\`

In environment variables a profile's name may stand for its index and wins over it:
\`Signing__Profiles__invoices__Certificate__Pfx__Password\` (\`_\` also stands for the \`-\` of a name).

${rows(PROFILE_KEYS, 'Certificate:')}
\`Certificate:…\` has the members of \`Signing:Certificate\`.

## Members of \`Notifications:Webhooks[]\`

${rows(JOB_WEBHOOK_KEYS)}
## Members of \`Portal:Organizations[]\`

${rows(ORGANIZATION_KEYS)}
## Members of \`Portal:SigningProviders[]\`

${rows(SIGNING_PROVIDER_KEYS)}
## Members of \`Identity:Providers[]\`

${rows(PROVIDER_KEYS)}
## Members of \`Identity:Providers[]:Roles[]\`

${rows(PROVIDER_ROLE_KEYS)}
## Members of \`Identity:Tokens[]\`

${rows(TOKEN_KEYS)}
## Members of \`Identity:Tokens[]:Rights[]\`

${rows(TOKEN_RIGHT_KEYS)}
## Known, not used by this version

Existing files may hold these keys; each gives a warning at start and changes nothing.

${unused}
`;
}

const NEEDED: ReadonlySet<string> = new Set(NEEDED_KEYS);
const COMMON: ReadonlySet<string> = new Set(COMMON_KEYS);

function only(isIn: (name: string) => boolean): KeyTable {
  return Object.fromEntries(Object.entries(KEYS).filter(([name]) => isIn(name)));
}

/** @param other beginning of keys that are described elsewhere */
function rows(table: KeyTable, other = ' '): string {
  const own = Object.entries(table).filter(([name]) => !name.startsWith(other));
  const lines = own.map(
    ([name, { kind, fallbackText, unit, says }]) =>
      `| \`${name}\` | ${valueText(kind, unit)} | ${fallbackText} | ${says} |`,
  );
  return `| Key | Value | Default | Meaning |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}

/** Type and rule in few words: the rule, where it says more than the type. */
function valueText({ type, rule }: KeyTable[string]['kind'], unit: string): string {
  const words = rule
    .replace(/^must (be |hold )?/, '')
    .replace(/^(?:a path( of a file,)?|(entries that are each a path)) without NUL characters$/, type)
    .replace(/^a text$/, type)
    .replace(/^entries that are each (?:a |an |one of )?/, 'list: ')
    .replace(/^a list of entries$/, 'list')
    .replace(/^true or false$/, 'boolean')
    .replace(/^(?:a whole number (?:from )?|one of |a |an )/, '')
    .replace(/^of at least /, 'at least ')
    .replaceAll('|', '\\|');
  return unit === '' ? words : `${words} ${unit}`;
}
