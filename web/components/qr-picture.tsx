/** A QR code, dark on light in each theme: readers need that. */
export function QrPicture({
  code: { size, path },
  label,
}: {
  /** Squares of a side, and the dark ones as a path. */
  code: { readonly size: number; readonly path: string };
  label: string;
}) {
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
