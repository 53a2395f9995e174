<?php
/** Signs a file, then asks with a wrong key. */

require 'GuzzleHttp/autoload.php';

spl_autoload_register(function (string $name): void {
    if (!preg_match('~^Sealwright\\\\(Batch|Portal)\\\\(.+)$~', $name, $parts)) return;
    $path = getenv('CLIENTS') . '/php-' . strtolower($parts[1]) . '/lib/' . strtr($parts[2], '\\', '/') . '.php';
    if (is_file($path)) require $path;
});

function files(string $key): Sealwright\Batch\Api\FilesApi
{
    $settings = (new Sealwright\Batch\Configuration())->setHost(getenv('BATCH_URL'))->setApiKey('X-API-Key', $key);
    return new Sealwright\Batch\Api\FilesApi(null, $settings);
}

$job = files(getenv('BATCH_KEY'))->postFiles($argv[1], 30);
echo $job->getStatus(), ' ', $job->getFileName(), ' ', class_exists(Sealwright\Portal\Api\DocumentsApi::class) ? 'true' : 'false', "\n";
try {
    files('wrong')->postFiles($argv[1]);
} catch (Sealwright\Batch\ApiException $refused) {
    echo $refused->getCode(), ' ', $refused->getResponseObject()->getCode(), "\n";
}
