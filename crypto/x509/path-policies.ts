/**
 * Certificate policies on a path (RFC 5280 §6.1) with user-initial-policy-set any-policy: a path is rejected only when
 * its own certificates require an explicit policy and none is valid on the whole path. In place of the policy tree, a set
 * of the policies that the next certificate may have: it is empty exactly when the tree is.
 */
import type { Certificate } from './certificate.ts';

const ANY = '2.5.29.32.0';

/** Most policies in one certificate, and mappings; real ones have fewer than twenty. */
const MAX_POLICIES = 200;

interface PolicyFault {
  readonly certificate: Certificate;
  readonly reason: string;
}

/** Returns the policy defect of a path. @param path end certificate first, anchor last; the anchor is not processed */
export function policyFault(path: readonly Certificate[]): PolicyFault | undefined {
  const certificates = path.slice(0, -1).reverse();
  if (certificates.every((certificate) => certificate.requireExplicitPolicy === undefined)) {
    return mappingFault(certificates);
  }
  // Certificates that may still follow before the rule applies; 0: it applies.
  const start = certificates.length + 1;
  const left = { explicit: start, mapping: start, any: start };
  let valid = new Set([ANY]);
  for (const [index, certificate] of certificates.entries()) {
    const last = index === certificates.length - 1;
    if ((certificate.policies?.length ?? 0) > MAX_POLICIES) {
      return { certificate, reason: 'has too many policies' };
    }
    const selfIssued = certificate.subjectKey === certificate.issuerKey;
    valid = narrowed(valid, certificate, left.any > 0 || (!last && selfIssued));
    if (last) break;
    if (left.explicit === 0 && valid.size === 0) return NO_POLICY(certificate);
    const fault = mappingFault([certificate]);
    if (fault !== undefined) return fault;
    valid = mapped(valid, certificate, left.mapping > 0);
    if (!selfIssued) {
      left.explicit = Math.max(0, left.explicit - 1);
      left.mapping = Math.max(0, left.mapping - 1);
      left.any = Math.max(0, left.any - 1);
    }
    left.explicit = Math.min(left.explicit, certificate.requireExplicitPolicy ?? left.explicit);
    left.mapping = Math.min(left.mapping, certificate.inhibitPolicyMapping ?? left.mapping);
    left.any = Math.min(left.any, certificate.inhibitAnyPolicy ?? left.any);
  }
  const [end] = path;
  const explicit = left.explicit <= 1 || end?.requireExplicitPolicy === 0;
  return explicit && valid.size === 0 && end !== undefined ? NO_POLICY(end) : undefined;
}

const NO_POLICY = (certificate: Certificate): PolicyFault => ({
  certificate,
  reason: 'has no policy that is valid on the whole path, and one is required',
});

/** Returns the valid policies that this certificate has too (§6.1.3 d, e). */
function narrowed(valid: ReadonlySet<string>, { policies }: Certificate, anyCounts: boolean): Set<string> {
  const next = new Set<string>();
  for (const policy of policies ?? []) {
    if (policy !== ANY && (valid.has(policy) || valid.has(ANY))) next.add(policy);
    if (policy === ANY && anyCounts) for (const each of valid) next.add(each);
  }
  return next;
}

/** Applies the policy mappings for the certificates below (§6.1.4 b). */
function mapped(valid: ReadonlySet<string>, { policyMappings }: Certificate, allowed: boolean): Set<string> {
  const next = new Set(valid);
  for (const { issuer } of policyMappings) next.delete(issuer);
  if (!allowed) return next;
  for (const { issuer, subject } of policyMappings) {
    if (valid.has(issuer) || valid.has(ANY)) next.add(subject);
  }
  return next;
}

/** Rejects a mapping from or to anyPolicy (§6.1.4 a). */
function mappingFault(certificates: readonly Certificate[]): PolicyFault | undefined {
  for (const certificate of certificates) {
    const { policyMappings } = certificate;
    if (policyMappings.length > MAX_POLICIES) return { certificate, reason: 'has too many policy mappings' };
    if (policyMappings.some(({ issuer, subject }) => issuer === ANY || subject === ANY)) {
      return { certificate, reason: 'maps the policy that stands for all' };
    }
  }
  return undefined;
}
