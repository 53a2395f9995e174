import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../../../service/service.ts';

import { until } from '../service.ts';
import { partsOf } from './relay.ts';

/** The first code that a service without a relay has mailed to an address, once it is there. */
export function mailedCode({ root }: Pick<Service, 'root'>, email: string): Promise<string> {
  const folder = join(root, 'mail');
  return until(async () => {
    // The first mail makes the folder.
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.eml')) : [];
    return names
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .filter((mail) => mail.includes(`<${email}>`) || mail.includes(`To: ${email}`))
      .flatMap((mail) => /^ *(\d{6}|\d{10})\s*$/m.exec(partsOf(mail).get('text/plain') ?? '')?.[1] ?? [])[0];
  });
}
