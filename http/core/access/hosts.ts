/**
 * Host names under which the service is reachable.
 *
 * Source: docs/batch-values.md §5, `AllowedHosts` and `Hosting:RequireHttps`.
 */

/** `name`, `name:port`, `[address]` or `[address]:port` → the name in lower case; undefined for other text. */
export function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase().replace(/\.$/, '');
}

/**
 * Returns a predicate of allowed `Host` headers. Entries are names, `*.name` for every subdomain, or `*` for every
 * host, which also allows requests without the header. Ports are ignored.
 */
export function hostCheck(allowed: readonly string[]): (host: string) => boolean {
  const entries = allowed.map((entry) => entry.toLowerCase());
  if (entries.includes('*')) return () => true;
  const names = new Set(entries.filter((entry) => !entry.startsWith('*.')));
  const endings = entries.filter((entry) => entry.startsWith('*.')).map((entry) => entry.slice(1));
  return (host) => {
    const name = hostName(host);
    if (name === undefined) return false;
    // An IPv6 address may be configured with or without the brackets of the header.
    const bare = name.replace(/^\[(.*)\]$/, '$1');
    return names.has(name) || names.has(bare) || endings.some((ending) => name.endsWith(ending));
  };
}
