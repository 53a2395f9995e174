/**
 * Rules about proxies and https that concern several keys at once.
 *
 * Source: docs/batch-values.md §5, `Hosting:ForwardedHeaders` and `Hosting:RequireHttps`.
 */
import type { Fault, Warning } from './report.ts';
import type { Settings } from './table.ts';

export function checkHosting({ hosting }: Settings, faults: Fault[], warnings: Warning[]): void {
  const { enabled, trustAnyProxy, knownProxies, knownNetworks } = hosting.forwardedHeaders;
  const listed = knownProxies.length + knownNetworks.length > 0;
  if (enabled && !trustAnyProxy && !listed) {
    faults.push({
      key: 'Hosting:ForwardedHeaders:Enabled',
      rule: 'is true, which needs proxies to trust: KnownProxies, KnownNetworks or TrustAnyProxy',
    });
  }
  if (trustAnyProxy && listed) {
    faults.push({
      key: 'Hosting:ForwardedHeaders:TrustAnyProxy',
      rule: 'is true, which leaves KnownProxies and KnownNetworks without meaning; use one or the other',
    });
  }
  if (!enabled && (trustAnyProxy || listed)) {
    warnings.push({
      key: 'Hosting:ForwardedHeaders:Enabled',
      text: 'is false, so the proxies named below it are not trusted',
    });
  }
  if (hosting.requireHttps && hosting.tls.certificatePath === undefined && !enabled) {
    warnings.push({
      key: 'Hosting:RequireHttps',
      text: 'is true, but without Hosting:Tls or Hosting:ForwardedHeaders every request counts as http and is redirected',
    });
  }
}
