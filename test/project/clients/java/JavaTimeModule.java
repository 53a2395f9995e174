package com.fasterxml.jackson.datatype.jsr310;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.time.OffsetDateTime;

/** Stands for the module of Jackson, which Debian does not have. */
public class JavaTimeModule extends SimpleModule {
  public JavaTimeModule() {
    addDeserializer(OffsetDateTime.class, new StdDeserializer<>(OffsetDateTime.class) {
      @Override
      public OffsetDateTime deserialize(JsonParser parser, DeserializationContext context) throws IOException {
        return OffsetDateTime.parse(parser.getText());
      }
    });
  }
}
