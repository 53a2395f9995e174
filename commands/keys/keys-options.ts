/** `sealwright keys …` as the command line has it. */
import { type Command, Option } from 'commander';
import { USER_ROLES, type UserRole } from '../../machines/portal/portal-user.ts';
import type { KeyRole, KeysArguments } from './keys.ts';

/** @param run does what the words say */
export function addKeysCommands(
  program: Command,
  configDir: () => Option,
  help: string,
  run: (words: KeysArguments, options: { readonly json: boolean }) => Promise<void>,
): void {
  const keys = program
    .command('keys')
    .description('organizations, applications and keys of the portal, while the service is stopped');
  const command = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .addOption(configDir())
      .option('--json', 'print JSON', false)
      .addHelpText('after', help);
  command('list', 'show the organizations, their applications and the beginnings of their keys').action(
    (options: { json: boolean }) => run({ do: 'list' }, options),
  );
  command('organization', 'make an organization')
    .argument('<name>', 'its name')
    .option('--identifier <text>', 'its registration number')
    .action((organization: string, options: { json: boolean; identifier?: string }) => {
      const { identifier } = options;
      return run({ do: 'organization', organization, ...(identifier && { identifier }) }, options);
    });
  command('create', 'make a key, and the organization and the application where they are missing')
    .argument('<organization>', 'its name')
    .argument('<application>', 'its name, unique over all organizations')
    .addOption(
      new Option('--role <role>', 'Monitor and Administrator are for applications of "Sys Admin"')
        .choices(['Normal', 'Monitor', 'Administrator'])
        .default('Normal'),
    )
    .action((organization: string, application: string, options: { json: boolean; role: KeyRole }) =>
      run({ do: 'create', organization, application, role: options.role }, options),
    );
  command('monitor', 'make a key that may only monitor')
    .argument('[application]', 'its name in the organization "Sys Admin"', 'monitor')
    .action((application: string, options: { json: boolean }) =>
      run({ do: 'create', organization: 'Sys Admin', application, role: 'Monitor' }, options),
    );
  command('user', 'add a user of the pages, who signs in by a mailed link, or change the role')
    .argument('<organization>', 'its name')
    .argument('<email>', 'address to which links are mailed')
    .option('--name <name>', 'name of the user (default: the address)')
    .addOption(
      new Option('--role <role>', 'what the user may do').choices([...USER_ROLES]).default('administrator'),
    )
    .action(
      (organization: string, email: string, options: { json: boolean; name?: string; role: UserRole }) => {
        const { name = email, role } = options;
        return run({ do: 'user', organization, email, name, role }, options);
      },
    );
  command('revoke', 'make a key good no more')
    .argument('<organization>', 'its name')
    .argument('<application>', 'its name')
    .argument('<key>', 'beginning of its secret, or its id')
    .action((organization: string, application: string, key: string, options: { json: boolean }) =>
      run({ do: 'revoke', organization, application, key }, options),
    );
}
