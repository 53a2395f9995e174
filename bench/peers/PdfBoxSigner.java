import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Hashtable;
import java.util.List;
import java.util.Locale;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.ExternalSigningSupport;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.PDSignature;
import org.bouncycastle.asn1.DERSet;
import org.bouncycastle.asn1.cms.Attribute;
import org.bouncycastle.asn1.cms.AttributeTable;
import org.bouncycastle.asn1.ess.ESSCertIDv2;
import org.bouncycastle.asn1.ess.SigningCertificateV2;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.cert.jcajce.JcaCertStore;
import org.bouncycastle.cms.CMSProcessableByteArray;
import org.bouncycastle.cms.CMSSignedDataGenerator;
import org.bouncycastle.cms.DefaultSignedAttributeTableGenerator;
import org.bouncycastle.cms.jcajce.JcaSignerInfoGeneratorBuilder;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaDigestCalculatorProviderBuilder;

/**
 * Signs PDF files with PDFBox and Bouncy Castle (PAdES-B-B), bytes in memory to bytes in memory, for bench/peers/run.js.
 *
 * <p>Arguments: a folder with signer.pfx (password "word") and PDF files, and seconds. Prints a JSON line for each file:
 * calls, seconds of processor time of the whole virtual machine, and the median of a call in milliseconds; writes the last
 * output beside the file, as NAME.pdfbox.
 */
public final class PdfBoxSigner {
  private final CMSSignedDataGenerator generator = new CMSSignedDataGenerator();

  private PdfBoxSigner(KeyStore store) throws Exception {
    String alias = store.aliases().nextElement();
    PrivateKey key = (PrivateKey) store.getKey(alias, "word".toCharArray());
    X509Certificate certificate = (X509Certificate) store.getCertificate(alias);
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
    Attribute reference =
        new Attribute(
            PKCSObjectIdentifiers.id_aa_signingCertificateV2,
            new DERSet(new SigningCertificateV2(new ESSCertIDv2[] {new ESSCertIDv2(digest)})));
    Hashtable<Object, Object> attributes = new Hashtable<>();
    attributes.put(reference.getAttrType(), reference);
    ContentSigner signer = new JcaContentSignerBuilder("SHA256withRSA").build(key);
    generator.addSignerInfoGenerator(
        new JcaSignerInfoGeneratorBuilder(new JcaDigestCalculatorProviderBuilder().build())
            .setSignedAttributeGenerator(
                new DefaultSignedAttributeTableGenerator(new AttributeTable(attributes)))
            .build(signer, certificate));
    generator.addCertificates(new JcaCertStore(List.of(certificate)));
  }

  private byte[] sign(byte[] file) throws Exception {
    try (PDDocument document = PDDocument.load(file)) {
      PDSignature signature = new PDSignature();
      signature.setFilter(PDSignature.FILTER_ADOBE_PPKLITE);
      signature.setSubFilter(PDSignature.SUBFILTER_ETSI_CADES_DETACHED);
      document.addSignature(signature);
      ByteArrayOutputStream out = new ByteArrayOutputStream(file.length + 32_768);
      ExternalSigningSupport external = document.saveIncrementalForExternalSigning(out);
      byte[] content = external.getContent().readAllBytes();
      external.setSignature(generator.generate(new CMSProcessableByteArray(content), false).getEncoded());
      return out.toByteArray();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Paths.get(arguments[0]);
    double seconds = Double.parseDouble(arguments[1]);
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(Files.newInputStream(folder.resolve("signer.pfx")), "word".toCharArray());
    PdfBoxSigner signer = new PdfBoxSigner(store);
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.pdf")) {
      found.forEach(files::add);
    }
    Collections.sort(files);
    for (Path file : files) signer.measure(file, seconds);
  }

  /** Signs for the given seconds, after three times as long a warm-up for the compiler. */
  private void measure(Path file, double seconds) throws Exception {
    byte[] data = Files.readAllBytes(file);
    byte[] output = sign(data);
    long warm = System.nanoTime() + (long) (seconds * 3e9);
    while (System.nanoTime() < warm) output = sign(data);
    List<Double> took = new ArrayList<>();
    long before = processorNanos();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end || took.size() < 3) {
      long begun = System.nanoTime();
      output = sign(data);
      took.add((System.nanoTime() - begun) / 1e6);
    }
    double spent = (processorNanos() - before) / 1e9;
    Collections.sort(took);
    Files.write(Paths.get(file + ".pdfbox"), output);
    String name = file.getFileName().toString().replaceFirst("\\.pdf$", "");
    System.out.printf(
        Locale.ROOT,
        "{\"file\": \"%s\", \"calls\": %d, \"cpuSeconds\": %f, \"p50Millis\": %f, \"version\": \"%s\"}%n",
        name, took.size(), spent, took.get(took.size() / 2), org.apache.pdfbox.util.Version.getVersion());
  }

  private static long processorNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
