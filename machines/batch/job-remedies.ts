/** Cause and remedy of each error code that is recorded with a failed job; also in docs/errors.md. */
export const JOB_REMEDIES: { readonly [code: string]: string | undefined } = {
  'input.missing':
    'The original was moved or removed while its job waited. Put it back and retry, or send it again.',
  'input.unreadable': 'The file cannot be read. Check its permissions, then retry.',
  'input.changed':
    'The file changed while it was read. Write it under another name and rename it when it is complete.',
  'input.empty': 'The file has no content. Send it again.',
  'input.too-large': 'The file is larger than this format allows. Sign it as CAdES, or split it.',
  'pdf.malformed': 'The PDF is damaged. Save it again with a PDF program.',
  'pdf.encrypted':
    'The PDF needs a password. Send it with `X-Document-Password`; see [how-to.md](how-to.md#sign-encrypted-pdfs).',
  'pdf.no-pages': 'The PDF has no pages. Send a complete file.',
  'pdf.change-forbidden':
    'An existing signature of the PDF forbids further signatures. Sign another version.',
  'pdf.xfa-only': 'The PDF is an XFA form without pages. Print it into a normal PDF.',
  'xml.malformed':
    'The XML is not well formed. The message names the position. Correct it, and send the file again.',
  'xml.dtd': 'The XML has a document type declaration, which is refused. Remove it.',
  'xml.encoding': 'Declare the encoding of the file, or convert it to UTF-8 before it is signed.',
  'xml.too-deep': 'The elements are nested too deeply. Sign the file as CAdES.',
  'xml.existing-signature':
    'The file has a signature that a new one would break. Use a detached signature or CAdES.',
  'cms.malformed': 'The file is no complete CMS structure. Get a complete copy, and send it again.',
  'asic.malformed': 'The file is no ASiC container. Get a complete copy, and send it again.',
  'asic.unsafe':
    'The container has hidden or ambiguous content and is refused. Make it again with another program.',
  'output.name-too-long':
    'The signed file would have a name of more than 255 bytes. Shorten the name of the input.',
  'output.name-refused': 'Give the input a name that the file system of the output folder takes.',
  'profile.not-found': 'The settings have no such profile any more. Restore it, then retry.',
  'encryption.no-key': 'Set the password of `Encryption`, and restart.',
  'font.missing': 'A font package is missing. Install the package that the message names.',
  'output.exists': 'A file of this name is in the output folder. Move it, then retry.',
  'output.unwritable': 'The output folder cannot be written. Check its permissions, then retry.',
  'key.unreadable': 'The key file cannot be read. Check path and permissions in `Signing:Certificate`.',
  'key.password':
    'The password of the key file, or the PIN of the token, is wrong. Correct it, restart, then retry.',
  'key.mismatch': 'Key and certificate do not belong together. Name those that do.',
  'key.unsupported': 'The type of the key is not supported. Use RSA of 2048 bits or more, ECDSA, or Ed25519.',
  'key.ambiguous': 'Several keys match. Name one in `Signing:Certificate`.',
  'key.not-found':
    'No key matches `Signing:Certificate`. Correct the thumbprint or label, restart, then retry.',
  'key.unavailable':
    'The token or the key service does not sign. Remove the cause that the message names, then retry.',
  'request.invalid':
    'The profile asks for something that the file does not have, such as a page or an element. The message names it. Change the profile or the file.',
  'signature.mismatch':
    'A signature does not match its content. The file was changed, or the value belongs to another one.',
  'authority.unreachable':
    'The time-stamp authority or revocation service cannot be reached. Check the network, then retry.',
  'authority.refused':
    'The time-stamp authority or revocation service refused the request. The message has its answer. Remove the cause, then retry.',
  'timestamp.malformed':
    'The time-stamp authority answered with an unusable token. Ask its operator, or use another one.',
  'revocation.missing':
    'No revocation answer is available for a certificate. Check the network to its authority.',
  'certificate.expired': 'The signing certificate has expired. Install a new one.',
  'certificate.not-yet-valid':
    'The signing certificate is not valid yet. Check the clock and the certificate.',
  'certificate.untrusted':
    'The signing certificate does not lead to a trusted root. Complete its chain or `Signing:Trust`, then restart.',
  'certificate.revoked': 'The signing certificate was revoked. Install a new one.',
  'certificate.malformed': 'The certificate cannot be read. Export it again.',
  'verification.failed':
    'The signed file did not pass the check. Nothing was published. The message names the check; report it.',
  'verification.disagreement':
    'The second implementation refuses the signature. Both verdicts are in `error/<job id>/`; see [independent-verification.md](independent-verification.md).',
  'verification.qualification':
    'The signature does not reach `Require` of the profile. The message says why. Use a certificate that reaches it, or lower `Require`.',
  'disk.full':
    'The pipeline waits, and continues by itself when there is space. A file that needs more than is free fails: make room and retry it.',
  'disk.not-writable': 'A folder cannot be written. Check its permissions; the pipeline continues by itself.',
  'disk.failed': 'The disk reports a fault. Check the system log.',
  'pool.deadline': 'The task took longer than `Pipeline:TaskTimeoutSeconds`. Retry, or raise the limit.',
  'pool.memory-exceeded': 'The task needed more memory than a thread may have. The file is probably damaged.',
  'pool.worker-lost': 'The thread of the task ended. Retry; if it happens again, report the file.',
  'job.input-not-removed':
    'It is not signed again while it is unchanged. Remove it, and let the user of the service remove files there.',
  'job.input-diverged': 'It stays. Write files under another name, and rename them when they are complete.',
  'remote.document-rejected': 'Ask in the remote portal for the reason, then retry the job.',
  'remote.timeout': 'Raise `RemoteSigner:TimeoutHours`, or retry the job.',
  'remote.unreachable':
    'Check the address and the key of the remote portal with `sealwright doctor`, then retry the job.',
};
