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
    .description(
      'administer organizations, applications and keys of the portal; the service must be stopped',
    );
  const command = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .addOption(configDir())
      .option('--json', 'print JSON', false)
      .addHelpText('after', help);
  command('list', 'list organizations, applications and the beginnings of keys').action(
    (options: { json: boolean }) => run({ do: 'list' }, options),
  );
  command('organization', 'create an organization')
    .argument('<name>', 'name of the organization')
    .option('--identifier <text>', 'registration number of the organization')
    .action((organization: string, options: { json: boolean; identifier?: string }) => {
      const { identifier } = options;
      return run({ do: 'organization', organization, ...(identifier && { identifier }) }, options);
    });
  command('create', 'create a key, and the organization and the application if they do not exist')
    .argument('<organization>', 'name of the organization')
    .argument('<application>', 'name of the application, unique over all organizations')
    .addOption(
      new Option('--role <role>', 'Monitor and Administrator are for applications of "Sys Admin"')
        .choices(['Normal', 'Monitor', 'Administrator'])
        .default('Normal'),
    )
    .action((organization: string, application: string, options: { json: boolean; role: KeyRole }) =>
      run({ do: 'create', organization, application, role: options.role }, options),
    );
  command('monitor', 'create a key with the role Monitor')
    .argument('[application]', 'name of the application, in the organization "Sys Admin"', 'monitor')
    .action((application: string, options: { json: boolean }) =>
      run({ do: 'create', organization: 'Sys Admin', application, role: 'Monitor' }, options),
    );
  command('user', 'add a user, who signs in to the pages with a link by e-mail; or change the role of a user')
    .argument('<organization>', 'name of the organization')
    .argument('<email>', 'address to which links are mailed')
    .option('--name <name>', 'name of the user (default: the address)')
    .addOption(
      new Option('--role <role>', 'role of the user').choices([...USER_ROLES]).default('administrator'),
    )
    .action(
      (organization: string, email: string, options: { json: boolean; name?: string; role: UserRole }) => {
        const { name = email, role } = options;
        return run({ do: 'user', organization, email, name, role }, options);
      },
    );
  command('revoke', 'revoke a key')
    .argument('<organization>', 'name of the organization')
    .argument('<application>', 'name of the application')
    .argument('<key>', 'beginning of the secret, or the id of the key')
    .action((organization: string, application: string, key: string, options: { json: boolean }) =>
      run({ do: 'revoke', organization, application, key }, options),
    );
}
