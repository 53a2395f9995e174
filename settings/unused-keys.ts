/**
 * Keys that existing configuration files may hold and that this version does not read. They are told apart from
 * slips of the pen. An entry ending in `:*` stands for everything below it; `#` stands for an index or a name.
 *
 * Source: batch-gaps §§5, 6, 11 and 12; running.md, "Configuration".
 */
export const UNUSED_KEYS = [
  'AllowedHosts',
  'Auth:CookieName',
  'Auth:SessionHours',
  'Backup:*',
  'Cluster:*',
  'Console:Dashboard:*',
  'Dashboard:PollIntervalSeconds',
  'Encryption:*',
  'Hosting:ForwardedHeaders:*',
  'Hosting:RequireHttps',
  'Logging:File:Enabled',
  'Logging:File:FileSizeLimitBytes',
  'Logging:File:MinimumLevel',
  'Logging:File:Path',
  'Logging:File:RetainedFileCountLimit',
  'Logging:File:RollingInterval',
  'LogViewer:*',
  'Metrics:*',
  'Notifications:*',
  'Portal:*',
  'RateLimiting:Actions:QueueLimit',
  'RateLimiting:Upload:QueueLimit',
  'RemoteSigner:*',
  'Runtime:Shards',
  'Signing:Certificate:Pfx:Thumbprint',
  'Signing:Certificate:Pkcs11:*',
  'Signing:Certificate:WindowsStore:*',
  'Signing:License',
  'Signing:Profiles:*',
  'Signing:Trust:*',
  'Statistics:*',
  'Storage:Inputs:#:Recursive',
  'Telemetry:*',
] as const;

/** Switches that promise something this version cannot keep; turned on, they refuse the start. */
export const UNKEPT_PROMISES: Readonly<Record<string, string>> = {
  'Encryption:Enabled': 'asks for encrypted outputs, which this version cannot make',
  'Hosting:RequireHttps': 'asks for redirects to https, which this version does not send',
};

/** True when the key is known but not read by this version. */
export function isUnusedKey(name: string): boolean {
  const given = name.toLowerCase().split(':');
  return UNUSED_KEYS.some((known) => {
    const parts = known.toLowerCase().split(':');
    const open = parts.at(-1) === '*';
    if (open) parts.pop();
    if (open ? given.length < parts.length : given.length !== parts.length) return false;
    return parts.every((part, index) => part === '#' || part === given[index]);
  });
}
