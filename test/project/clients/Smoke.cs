using System;
using System.Collections.Generic;
using System.IO;
using Sealwright.Batch.Api;
using Sealwright.Batch.Client;
using Sealwright.Batch.Model;

/// <summary>Signs a file, then asks with a wrong key. The client of the portal is compiled.</summary>
public static class Smoke
{
    static FilesApi Files(string key)
    {
        var keys = new Dictionary<string, string> { ["X-API-Key"] = key };
        var settings = new Configuration(new Dictionary<string, string>(), keys, new Dictionary<string, string>());
        settings.BasePath = Environment.GetEnvironmentVariable("BATCH_URL");
        return new FilesApi(settings);
    }

    static JobWithHistory Sign(string key, string path)
    {
        using (var file = File.OpenRead(path)) return Files(key).PostFiles(file, wait: 30);
    }

    public static void Main(string[] words)
    {
        var job = Sign(Environment.GetEnvironmentVariable("BATCH_KEY"), words[0]);
        Console.WriteLine(job.Status + " " + job.FileName + " " + (typeof(Sealwright.Portal.Api.DocumentsApi) != null));
        try
        {
            Sign("wrong", words[0]);
        }
        catch (ApiException refused)
        {
            var code = Newtonsoft.Json.Linq.JObject.Parse((string)refused.ErrorContent)["code"];
            Console.WriteLine(refused.ErrorCode + " " + code);
        }
    }
}
