/**
 * Names under which the service may be reached.
 *
 * Source: batch-gaps §5, `AllowedHosts` and `Hosting:RequireHttps`.
 */

/** `name`, `name:port`, `[address]` or `[address]:port` → the name in lower case; undefined for anything else. */
export function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase().replace(/\.$/, '');
}

/**
 * Asks whether a `Host` header is allowed. Entries are names, `*.name` for everything below a name, or `*` for
 * every host, which also allows requests that name none. Ports do not matter.
 */
export function hostCheck(allowed: readonly string[]): (host: string) => boolean {
  const entries = allowed.map((entry) => entry.toLowerCase());
  if (entries.includes('*')) return () => true;
  const names = new Set(entries.filter((entry) => !entry.startsWith('*.')));
  const endings = entries.filter((entry) => entry.startsWith('*.')).map((entry) => entry.slice(1));
  return (host) => {
    const name = hostName(host);
    if (name === undefined) return false;
    // An IPv6 address is configured with or without the brackets it has in the header.
    const bare = name.replace(/^\[(.*)\]$/, '$1');
    return names.has(name) || names.has(bare) || endings.some((ending) => name.endsWith(ending));
  };
}
