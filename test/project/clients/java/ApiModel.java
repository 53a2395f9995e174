package io.swagger.annotations;

/** Stands for the annotation of Swagger 1.5, which Debian does not have. */
public @interface ApiModel {
  String description() default "";
}
