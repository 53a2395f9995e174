import sealwright.batch.ApiClient;
import sealwright.batch.ApiException;
import sealwright.batch.api.PipelineApi;
import sealwright.batch.model.Reason;

/** Pauses the pipeline, then asks with a wrong key. */
public class Smoke {
  static PipelineApi pipeline(String key) {
    ApiClient client = new ApiClient();
    java.net.URI service = java.net.URI.create(System.getenv("BATCH_URL"));
    client.setScheme(service.getScheme()).setHost(service.getHost()).setPort(service.getPort());
    client.setRequestInterceptor(request -> request.header("X-API-Key", key));
    return new PipelineApi(client);
  }

  public static void main(String[] words) throws Exception {
    var state = pipeline(System.getenv("BATCH_KEY")).postPipelinePause(new Reason().reason("smoke"));
    System.out.println(state.getPaused() + " " + state.getReason());
    try {
      pipeline("wrong").postPipelinePause(new Reason());
    } catch (ApiException refused) {
      System.out.println(refused.getCode());
    }
  }
}
